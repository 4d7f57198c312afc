// SPDX-License-Identifier: Apache-2.0
#include "warplens/gallery_results.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/text_file.h"

namespace warplens::cli {

const MeasuredRow* MeasuredGallery::find(const std::string& name) const {
  const auto it = rows.find(name);
  return it == rows.end() ? nullptr : &it->second;
}

Result<MeasuredGallery> read_measured_gallery(const std::string& folder, const std::string& gpu) {
  MeasuredGallery measured;
  const std::filesystem::path path = std::filesystem::path(folder) / gpu / "gallery.json";
  std::error_code error;
  if (folder.empty() || !std::filesystem::exists(path, error)) return measured;
  const auto text = read_file(path.string());
  if (!text) return text.error();
  try {
    const nlohmann::json file = nlohmann::json::parse(*text);
    measured.gpu = file.at("gpu").get<std::string>();
    for (const auto& row : file.at("rows"))
      measured.rows[row.at("rung").get<std::string>()] = {
          row.at("size").get<uint64_t>(), row.at("us").get<double>(), row.at("figure").get<double>(),
          row.at("unit").get<std::string>(), row.value("date", file.at("date").get<std::string>())};
  } catch (const nlohmann::json::exception& fault) {
    return make_error(fmt::format("{} is damaged: {}", path.string(), fault.what()), "scripts/measure_gpu writes it");
  }
  return measured;
}

}  // namespace warplens::cli
