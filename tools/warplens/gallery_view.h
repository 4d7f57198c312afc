// SPDX-License-Identifier: Apache-2.0
// The gallery on a screen and in files. `warplens gallery`:
//
//   topic      rungs  fastest measured                what the rungs compute
//   transpose      7  07_library 135.1 us, 3.97 TB/s  out[c][r] = in[r][c], against a copy
//
// `warplens gallery transpose`: a row for each kernel of a rung, the measured time in the first of them:
//
//   kernel          verified  requests  sectors  per request  wavefronts  excess  occupancy      time        rate
//   02_naive: read rows, write columns.
//   naive           yes         16,384  147,456         18.0           0       0      100 %  972.5 us    552 GB/s
#pragma once
#include <string>
#include <vector>

#include "report/text_style.h"
#include "warplens/gallery_catalogue.h"
#include "warplens/gallery_results.h"
#include "warplens/gallery_run.h"

namespace warplens::cli {

std::string gallery_list_text(const std::vector<Topic>& topics, const MeasuredGallery& measured,
                              const report::TextStyle& style);
std::string gallery_text(const Topic& topic, const std::vector<RungResult>& results, const MeasuredGallery& measured,
                         const report::TextStyle& style);
/// docs/gallery.md describes both; numbers of a kernel are there by the names that `warplens metrics` lists.
std::string gallery_json(const Topic& topic, const std::vector<RungResult>& results, const MeasuredGallery& measured);
std::string gallery_csv(const std::vector<RungResult>& results, const MeasuredGallery& measured);

}  // namespace warplens::cli
