"""Defects of the official checkers: checks that differ from what the prompts ask."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

DEFECTS: Mapping[str, str] = MappingProxyType(
    {
        "keywords:existence": "keywords are patterns, found inside other words too",
        "keywords:frequency": "the keyword is a pattern, counted inside other words too",
        "keywords:forbidden_words": "the words are patterns",
        "language:response_language": "a text without letters counts as the right language",
        "change_case:english_capital": "the language is guessed from capitals, often wrongly",
        "change_case:english_lowercase": "a text without a language counts as English",
        "length_constraints:number_sentences": "list numbers such as '1.' are sentences",
        "length_constraints:number_paragraphs": "'***' divides inside a line too",
        "length_constraints:nth_paragraph_first_word": "blank pieces count for the place, not for the number",
        "detectable_content:postscript": "found anywhere; 'P.P.S.' is a 'P.S.'",
        "detectable_format:number_bullet_lists": "'---' is a bullet; a lone star swallows the next line",
        "detectable_format:constrained_response": "the allowed answer may stand in other text",
        "detectable_format:number_highlighted_sections": "'***x***' is two highlights",
        "detectable_format:multiple_sections": "the section mark is a pattern",
        "detectable_format:json_format": "bare values and NaN are JSON",
        "count:conjunctions": "'and', 'And' and 'and,' are three different ones",
        "ratio:overlap": "trigrams of characters, not of words",
        "ratio:sentence_words": "that the words differ is not checked",
        "format:quote_unquote": "curly quotes are not seen",
        "format:line_indent": "of two blank lines one may count",
        "format:list": "the mark counts anywhere in a line",
        "format:options": "a lettered option with a newline after it is wrong",
        "format:thesis": "'<em>' is cut in the wrong place; only the first italics count",
        "format:sub-bullets": "a text without bullets is right; stars of bold text are bullets",
        "format:no_bullets_bullets": "a blank line among the bullets is wrong; sentences need no full stop",
        "repeat:repeat_span": "characters are compared where the prompt asks for words",
        "custom:date_format_list": "month 0 and day 0 are dates",
    }
)
"""By instruction id, for reports under mode `official`."""

UNMENDED: Mapping[str, str] = MappingProxyType(
    {
        "custom:csv_special_character": "what follows the first such field is not checked",
        "custom:csv_quotes": "the header must be quoted as well",
        "custom:reverse_newline": "any lines in descending order are right, countries or not",
    }
)
"""Defects that mode `fixed` keeps. Each concerns one prompt, and its repair needs a list of facts."""
