"""The tokens of the forms in which models write calls, and the marks of what they only think.

What is no word is told by what is allowed, not by what is forbidden: the tokens and tags of the
forms that models write calls in, brackets and separators. All else is a word.
"""

from __future__ import annotations

import re
from typing import Final

from selfcorrect.text import spelling

_TAGS: Final = (
    "tool_?calls?|function_?calls?|functions?|tools?|tool_use|tool_code|multi_?tool_?calls?|actions?|invoke"
    r"|(?:minimax|seed|antml):tool_?calls?|(?:antml:)?function_calls|steptml:invoke"
    "|[|\uff5c]DSML[|\uff5c](?:function_calls|invoke)"
)
_SPECIAL: Final = (
    "begin_of_text|end_of_text|endoftext|eot|eot_id|eom_id|im_start|im_end|end_header_id|end|start"
    "|call|return|stop|message|content|recipient|plugin|python_tag|python_(?:start|end)"
    "|/?tool_calls?|tool_calls?_(?:start|end)|tool_calls_begin|tool_calls_section_(?:begin|end)|tool_sep"
    "|tool_call_argument_begin|tools_(?:prefix|suffix)|action_(?:start|end)"
    "|(?:START|END)_(?:ACTION|RESPONSE)|(?:START|END)_OF_TURN_TOKEN|CHATBOT_TOKEN|BOS_TOKEN"
    "|tool\u2581calls?\u2581(?:begin|end)|tool\u2581sep"
    "|(?:begin|end)\u2581of\u2581sentence|Assistant"
)
FORM: Final = re.compile(
    "```(?:json[5c]?|python|py|xml|javascript|js|text|plaintext|tool_code|tool_calls?|tool)?(?![\\w-])"
    rf"|</?(?i:{_TAGS})>|<<function>>"
    r"|</?(?:s|bos|eos|bot_end|end_code|end_of_turn)>|<start_of_turn>(?:model\b)?"
    r"|<\|(?:start|im_start)\|>[ \t]*assistant\b|<\|from\|>[ \t]*assistant\b"
    r"|<\|(?:start_header_id|start_of_role)\|>[ \t]*assistant[ \t]*"
    r"<\|(?:end_header_id|end_of_role)\|>"
    r"|<\|channel\|>(?:commentary|final)?|<\|constrain\|>(?:json)?|<\|assistant\|>"
    rf"|<[|\uff5c](?:{_SPECIAL})[|\uff5c]>"
    r"|\[/?(?:TOOL_CALLS?|ARGS)\]|^[ \t]*functools(?=\0)|\bprint(?=\()"
    r"|^Call:(?=[^\n]*<bot_end>)|^>>>(?=\0)|<[|\uff5c]tool_call_begin[|\uff5c]>(?:functions\.|function)?"
    r"|\u273fFUNCTION\u273f:|^Action:(?=[ \t]*(?:```|\n\s*\S))|\ufeff",
    re.MULTILINE,
)
"""The tokens of the forms in which models write calls."""
OPENING: Final = re.compile(
    rf"(?:{FORM.pattern})"
    r"|</?(?:\w+:|[|\uff5c]\w+[|\uff5c])?(?:invoke|function(?:_call)?|tool(?:_call|_use|_name)?|name"
    r"|param(?:eter)?s?|arg(?:ument)?s?|input|arg_key|arg_value)(?:[ \t]+name)?\s*[=>]"
    r"|<function |(?<=[\w\"'])\s+(?:string|type)=[\"']\w{0,40}[\"']"
    r"|\bto=(?:functions\.)?|\bfunctions\.|(?<=\])\w+(?=\[ARGS\])|\[CALL_ID\]"
    r"|:\d+(?=\s*<\|tool_call_argument_begin)|\u273fARGS\u273f:|\*+|\.call(?=\()|\bdict(?=\()"
    r"|\bAction(?: Input)?:|(?:json|code|commentary)(?=\s*(?:<\||\{))|<\|\w+\|>|function(?=<\uff5c)"
    r"|(?<=<\|channel\|>)analysis\b"
    r"|<\uff5ctool\u2581(?:sep|call\u2581begin)\uff5c>",
    re.MULTILINE,
)
"""What stands around the name of a call and its arguments, in those forms."""
TURN_ENDS: Final = re.compile(
    r"<\|(?:im_end|eot|eot_id|eom_id|end_of_text|endoftext|call|return|stop|END_OF_TURN_TOKEN)\|>"
    "|</s>|<end_of_turn>|<bot_end>|<end_code>|<\uff5cend\u2581of\u2581sentence\uff5c>"
    r"|^Observation:",
    re.MULTILINE,
)
"""Behind one of these a model has ended its turn; what follows it was not asked to write."""
_WORD: Final = r"(?:seed:|antml:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)"
THINKS: Final = re.compile(
    rf"(?P<open><{_WORD}>|\[THINK\]|\u25c1think\u25b7|<\|START_THINKING\|>|<\|begin_of_thought\|>"
    r"|<\|channel\|>analysis(?:\s*<\|constrain\|>\w+)?<\|message\|>)"
    rf"|(?P<close></{_WORD}>|\[/THINK\]|\u25c1/think\u25b7|<\|END_THINKING\|>|<\|end_of_thought\|>)"
    r"|(?P<over><\|end\|>|<\|return\|>)",
    re.IGNORECASE,
)
LEADING: Final = re.compile(
    r"(?:\s|<\|(?:im_start|start|start_header_id|end_header_id|begin_of_text)\|>|assistant\b)*+"
)
WRAPPERS: Final = frozenset(
    {"args", "argument", "arguments", "body", "data", "function_args", "input", "inputs", "kwargs"}
    | {"parameters", "params", "payload", "request", "tool_args", "tool_input", "action_input"}
    | {"properties", "function_arguments"}
)
"""Keys around all arguments that say no more than that (K1, and what providers write)."""
WRAPPING: Final = frozenset(map(spelling, WRAPPERS))
