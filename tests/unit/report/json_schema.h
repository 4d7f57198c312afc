// SPDX-License-Identifier: Apache-2.0
// The part of JSON Schema that docs/report-schema.json uses, written from its specification (draft 2020-12): $ref into
// $defs, const, enum, type, minimum, minItems, maxItems, items, properties, required, additionalProperties: false. Any
// other keyword is an error, so that the schema cannot say something that nobody checks.
#pragma once
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace warplens::report {

class SchemaCheck {
 public:
  explicit SchemaCheck(const nlohmann::json& schema) : root_(schema) {}
  /// Empty when `value` fits the schema, else the first fault with its path.
  std::string fault(const nlohmann::json& value) const { return check(root_, value, ""); }

 private:
  using json = nlohmann::json;

  /// `type`: a name, or a list of which one must be right.
  static bool has_type(const json& value, const json& type) {
    if (!type.is_array()) return has_type(value, type.get<std::string>());
    return std::any_of(type.begin(), type.end(), [&](const json& one) { return has_type(value, one); });
  }
  static bool has_type(const json& value, const std::string& type) {
    if (type == "null") return value.is_null();
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    return false;
  }

  std::string check(const json& schema, const json& value, const std::string& path) const {
    for (const auto& [key, rule] : schema.items()) {
      const std::string fault = check_rule(schema, key, rule, value, path);
      if (!fault.empty()) return fault;
    }
    return {};
  }

  std::string check_rule(const json& schema, const std::string& key, const json& rule, const json& value,
                         const std::string& path) const {
    static const std::set<std::string> kSilent = {"$schema", "title", "$defs"};
    if (kSilent.count(key) != 0) return {};
    if (key == "$ref") return check(root_.at(json::json_pointer(rule.get<std::string>().substr(1))), value, path);
    if (key == "const") return value == rule ? "" : path + ": is not the constant";
    if (key == "enum")
      return std::find(rule.begin(), rule.end(), value) != rule.end() ? "" : path + ": not in the enum";
    if (key == "type") return has_type(value, rule) ? "" : path + ": wrong type";
    if (key == "minimum") return value >= rule ? "" : path + ": below the minimum";
    if (key == "minItems") return value.size() >= rule ? "" : path + ": too few items";
    if (key == "maxItems") return value.size() <= rule ? "" : path + ": too many items";
    if (key == "required") {
      for (const auto& name : rule)
        if (!value.contains(name.get<std::string>())) return path + ": lacks " + name.get<std::string>();
      return {};
    }
    if (key == "items") {
      for (size_t i = 0; i < value.size(); ++i)
        if (const std::string fault = check(rule, value[i], path + "/" + std::to_string(i)); !fault.empty())
          return fault;
      return {};
    }
    if (key == "properties" || key == "additionalProperties") return check_members(schema, value, path);
    return path + ": the schema uses " + key + ", which this test does not know";
  }

  std::string check_members(const json& schema, const json& value, const std::string& path) const {
    if (!value.is_object()) return {};
    for (const auto& [name, member] : value.items()) {
      if (!schema.at("properties").contains(name)) {
        if (schema.contains("additionalProperties")) return path + ": unknown member " + name;
        continue;
      }
      const std::string fault = check(schema.at("properties").at(name), member, path + "/" + name);
      if (!fault.empty()) return fault;
    }
    return {};
  }

  const json& root_;
};

}  // namespace warplens::report
