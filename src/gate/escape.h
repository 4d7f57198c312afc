// SPDX-License-Identifier: Apache-2.0
// Names and source lines are bytes that anybody may have written: quotes, markup, newlines, terminal codes, broken
// UTF-8. Here they are made harmless, once for each format.
#pragma once
#include <string>
#include <string_view>

namespace warplens::gate {

/// Bytes that are no UTF-8 (also surrogates and what is written longer than need be) become U+FFFD.
std::string valid_utf8(std::string_view text);
/// For XML 1.0, in an element or in an attribute's double quotes. What XML cannot hold becomes U+FFFD; line ends and
/// tabs become references, so that attributes keep them.
std::string xml_text(std::string_view text);
/// A GitHub workflow command's message, and its properties: "%", line ends, and in properties ":" and ",".
std::string workflow_message(std::string_view text);
std::string workflow_property(std::string_view text);
/// GitHub-flavoured Markdown that shows `text` as it is, on one line, also in a cell of a table.
std::string markdown_text(std::string_view text);
/// The same in a code span; not in a table, where "|" ends a cell even there.
std::string markdown_code(std::string_view text);
/// The same in a code span in a cell of a table, where a backslash takes "|" its meaning and goes away.
std::string markdown_cell(std::string_view text);
/// A path as the path of a URI: everything but letters, digits and -._~/ as %XX.
std::string uri_path(std::string_view path);

}  // namespace warplens::gate
