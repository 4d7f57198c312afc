// SPDX-License-Identifier: Apache-2.0
#include "warplens/shell_pages.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdio>
#include <set>
#include <sstream>

#include "warplens/commands.h"
#include "warplens/exit_codes.h"
#include "warplens/help.h"
#include "warplens/run_command.h"

namespace warplens::cli {
namespace {

bool is_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && (std::isalpha(static_cast<unsigned char>(word[1])) || word[1] == '-') &&
         word.find_first_of("[]|.<>=*'") == std::string_view::npos && word != "--";
}

std::string without_comma(std::string word) {
  if (word.ends_with(',')) word.pop_back();
  return word;
}

/// For between single quotes.
std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

bool takes_file(const HelpOption& o) {
  return o.value.find("FILE") != std::string::npos || o.value.find("FOLDER") != std::string::npos;
}

std::string names_of(const std::vector<HelpOption>& options) {
  std::string names;
  for (const HelpOption& o : options) names += (names.empty() ? "" : " ") + o.name;
  return names;
}

std::string bash_text() {
  std::string words, cases;
  for (const Command& c : commands()) {
    words += fmt::format("{} ", c.name);
    cases += fmt::format("    {}) options={} ;;\n", c.name, shell_quoted(names_of(help_options(c.help()))));
  }
  return fmt::format(R"(# bash completion of warplens; made by 'warplens shell-page bash'
_warplens() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} options
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{}help --version' -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}    help) options='{}' ;;
  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) if [ "${{COMP_WORDS[1]}}" = help ]; then COMPREPLY=($(compgen -W "$options" -- "$word"));
       else COMPREPLY=($(compgen -f -- "$word")); fi ;;
  esac
}}
complete -o filenames -F _warplens warplens
)",
                     words, cases, words);
}

std::string zsh_text() {
  std::string list, cases;
  for (const Command& c : commands()) {
    list += fmt::format("    {}\n", shell_quoted(fmt::format("{}:{}", c.name, c.summary)));
    cases += fmt::format("    {})\n      _arguments -S", c.name);
    for (const HelpOption& o : help_options(c.help())) {
      std::string summary;
      for (const char ch : o.summary) summary += ch == '[' || ch == ']' || ch == ':' || ch == '\\' ? ' ' : ch;
      std::string spec = fmt::format("{}[{}]", o.name, summary);
      if (!o.value.empty()) spec += fmt::format(":{}:{}", "value", takes_file(o) ? "_files" : "");
      cases += " \\\n        " + shell_quoted(spec);
    }
    cases += " \\\n        '*:file:_files'\n      ;;\n";
  }
  return fmt::format(R"(#compdef warplens
# zsh completion of warplens; made by 'warplens shell-page zsh'
_warplens() {{
  local -a names
  names=(
{}    'help:all options of a command'
  )
  if (( CURRENT == 2 )); then
    _describe command names
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}    help) _describe command names ;;
  esac
}}
_warplens "$@"
)",
                     list, cases);
}

std::string fish_text() {
  std::string text = "# fish completion of warplens; made by 'warplens shell-page fish'\n";
  for (const Command& c : commands()) {
    text += fmt::format("complete -c warplens -n __fish_use_subcommand -a {} -d {}\n", c.name,
                        shell_quoted(std::string(c.summary)));
    for (const HelpOption& o : help_options(c.help())) {
      const bool is_long = o.name.starts_with("--");
      const std::string flag = is_long              ? "-l " + o.name.substr(2)
                               : o.name.size() == 2 ? "-s " + o.name.substr(1)
                                                    : "-o " + o.name.substr(1);
      const char* value = o.value.empty() ? "" : takes_file(o) ? " -r" : " -x";
      text += fmt::format("complete -c warplens -n '__fish_seen_subcommand_from {}' {}{} -d {}\n", c.name, flag, value,
                          shell_quoted(o.summary));
    }
  }
  return text;
}

/// For roff: a dot or an apostrophe at the begin of a line would be a request.
std::string roff(std::string_view text) {
  std::string out;
  bool begin = true;
  for (const char c : text) {
    if (begin && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    begin = c == '\n';
  }
  return out;
}

std::string man_text(const Command* command) {
  const std::string name = command == nullptr ? "warplens" : fmt::format("warplens-{}", command->name);
  const std::string summary = command == nullptr ? "run CUDA programs without a GPU and count what warps do to memory"
                                                 : std::string(command->summary);
  std::string also;
  for (const Command& c : commands())
    if (&c != command) also += fmt::format("{}.BR warplens\\-{} (1)", also.empty() ? "" : ",\n", c.name);
  std::string title = name;
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return fmt::format(
      ".TH \"{}\" 1 \"\" \"warplens {}\" \"Warplens\"\n.SH NAME\n{} \\- {}\n.SH DESCRIPTION\n.nf\n{}.fi\n.SH SEE "
      "ALSO\n{}\n",
      roff(title), WARPLENS_VERSION, roff(name), roff(summary),
      roff(command == nullptr ? general_help() : command->help()), also);
}

}  // namespace

std::vector<HelpOption> help_options(std::string_view help) {
  std::vector<HelpOption> options;
  std::set<std::string> known;
  std::istringstream lines{std::string(help)};
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos || begin < 2 || line[begin] != '-') continue;
    const size_t gap = line.find("  ", begin);
    const size_t text = gap == std::string::npos ? std::string::npos : line.find_first_not_of(' ', gap);
    const std::string summary = text == std::string::npos ? "" : line.substr(text);
    std::istringstream words{line.substr(begin, gap == std::string::npos ? gap : gap - begin)};
    std::vector<HelpOption> here;
    for (std::string word; words >> word;) {
      word = without_comma(std::move(word));
      if (is_option(word))
        here.push_back({word, "", summary});
      else if (!here.empty() && here.back().value.empty() && word != "...")
        here.back().value = word;
    }
    // "-q, --quiet": both take what the last one takes.
    for (HelpOption& o : here)
      if (known.insert(o.name).second) options.push_back(std::move(o));
  }
  return options;
}

int shell_page_command(const std::vector<std::string>& arguments) {
  const std::string kind = arguments.empty() ? "" : arguments[0];
  const Command* command = arguments.size() > 1 ? find_command(arguments[1]) : nullptr;
  std::string text;
  if (kind == "bash") text = bash_text();
  if (kind == "zsh") text = zsh_text();
  if (kind == "fish") text = fish_text();
  if (kind == "man" && (arguments.size() == 1 || command != nullptr)) text = man_text(command);
  if (text.empty()) {
    print({make_error("shell-page takes man, bash, zsh or fish, and for man the name of a command")});
    return kMisuse;
  }
  return std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? kCannotWrite : 0;
}

}  // namespace warplens::cli
