"""How models and providers write calls: each form as a function from calls to text."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Written(NamedTuple):
    """A call that is to be written down."""

    name: str
    args: dict[str, Any]


Form = Callable[[Sequence[Written]], str]


def dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def pair(call: Written, key: str = "arguments") -> dict[str, Any]:
    return {"name": call.name, key: call.args}


def function(call: Written, *, as_text: bool = True) -> dict[str, Any]:
    args = dump(call.args) if as_text else call.args
    return {"id": "c1", "type": "function", "function": {"name": call.name, "arguments": args}}


def each(form: str, between: str = "\n", around: str = "{}") -> Form:
    """One text a call: `{name}`, `{args}` as JSON, `{pair}` as a whole object."""

    def write(calls: Sequence[Written]) -> str:
        texts = (
            form.replace("{name}", call.name)
            .replace("{args}", dump(call.args))
            .replace("{pair}", dump(pair(call)))
            .replace("{llama}", dump(pair(call, "parameters")))
            .replace("{code}", code(call))
            for call in calls
        )
        return around.replace("{}", between.join(texts))

    return write


def listed(around: str, make: Callable[[Written], Any] = pair) -> Form:
    """All calls in one JSON value."""
    return lambda calls: around.replace("{}", dump([make(call) for call in calls]))


def code(call: Written) -> str:
    return f"{call.name}({', '.join(f'{key}={value!r}' for key, value in call.args.items())})"


def coded(around: str, between: str = ", ") -> Form:
    return lambda calls: around.replace("{}", between.join(code(call) for call in calls))


def tagged(call_form: str, parameter: str, around: str = "{}") -> Form:
    """One tag a parameter: text as it is, everything else as JSON."""

    def write(calls: Sequence[Written]) -> str:
        texts = []
        for call in calls:
            inner = "".join(
                parameter.replace("{key}", key).replace(
                    "{value}", value if isinstance(value, str) else dump(value)
                )
                for key, value in call.args.items()
            )
            texts.append(call_form.replace("{name}", call.name).replace("{}", inner))
        return around.replace("{}", "\n".join(texts))

    return write


def whole(make: Callable[[Sequence[Written]], Any]) -> Form:
    return lambda calls: dump(make(calls))


BAR = "\uff5c"
SEP = "\u2581"
MODELS: dict[str, Form] = {
    "hermes": each("<tool_call>\n{pair}\n</tool_call>"),
    "qwen3 coder": tagged(
        "<tool_call>\n<function={name}>\n{}</function>\n</tool_call>",
        "<parameter={key}>\n{value}\n</parameter>\n",
    ),
    "llama 3 json": each("<|python_tag|>{llama}<|eom_id|>", ""),
    "llama 3 semicolons": each("{llama}", "; "),
    "llama 3 function": each("<function={name}>{args}</function><|eom_id|>", ""),
    "llama 3 at groq": each("<function={name}={args}</function>", ""),
    "llama 4": coded("<|python_start|>[{}]<|python_end|><|eot|>"),
    "mistral v3": listed("[TOOL_CALLS] {}</s>"),
    "mistral v3 ids": listed("[TOOL_CALLS]{}", lambda c: {**pair(c), "id": "a1"}),
    "mistral v11": each("[TOOL_CALLS]{name}[CALL_ID]a1B2[ARGS]{args}", ""),
    "mistral v13": each("[TOOL_CALLS]{name}[ARGS]{args}", "", "{}</s>"),
    "mistral bare": each("[TOOL_CALLS]{name}{args}", ""),
    "deepseek v3": each(
        f"<{BAR}tool{SEP}call{SEP}begin{BAR}>function<{BAR}tool{SEP}sep{BAR}>{{name}}\n```json\n{{args}}\n```<{BAR}tool{SEP}call{SEP}end{BAR}>",
        "\n",
        f"<{BAR}tool{SEP}calls{SEP}begin{BAR}>{{}}<{BAR}tool{SEP}calls{SEP}end{BAR}><{BAR}end{SEP}of{SEP}sentence{BAR}>",
    ),
    "deepseek v3.1": each(
        f"<{BAR}tool{SEP}call{SEP}begin{BAR}>{{name}}<{BAR}tool{SEP}sep{BAR}>{{args}}<{BAR}tool{SEP}call{SEP}end{BAR}>",
        "",
        f"<{BAR}tool{SEP}calls{SEP}begin{BAR}>{{}}<{BAR}tool{SEP}calls{SEP}end{BAR}>",
    ),
    "deepseek v3.2": tagged(
        f'<{BAR}DSML{BAR}invoke name="{{name}}">\n{{}}</{BAR}DSML{BAR}invoke>',
        f'<{BAR}DSML{BAR}parameter name="{{key}}" string="true">{{value}}</{BAR}DSML{BAR}parameter>\n',
        f"<{BAR}DSML{BAR}function_calls>\n{{}}\n</{BAR}DSML{BAR}function_calls>",
    ),
    "glm 4": each("{name}\n{args}"),
    "glm 4.5": tagged(
        "<tool_call>{name}\n{}</tool_call>",
        "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n",
    ),
    "glm 4.7": tagged(
        "<tool_call>{name}{}</tool_call>", "<arg_key>{key}</arg_key><arg_value>{value}</arg_value>"
    ),
    "kimi k2": each(
        "<|tool_call_begin|>functions.{name}:0<|tool_call_argument_begin|>{args}<|tool_call_end|>",
        "",
        "<|tool_calls_section_begin|>{}<|tool_calls_section_end|>",
    ),
    "gpt-oss": each(
        "<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{args}<|call|>",
        "<|start|>assistant",
    ),
    "gpt-oss role": each(
        "<|start|>assistant to=functions.{name}<|channel|>commentary json<|message|>{args}<|call|>"
    ),
    "gpt-oss analysis": each(
        "<|channel|>analysis to=functions.{name} code<|message|>{args}<|call|>", "<|start|>assistant"
    ),
    "phi 4": listed("<|tool_call|>{}<|/tool_call|>", lambda c: function(c, as_text=False)),
    "phi 4 functools": listed("functools{}"),
    "granite 3": listed("<|tool_call|>{}"),
    "granite code": each("<function_call> {pair}"),
    "command-r": listed(
        "Action: ```json\n{}\n```", lambda c: {"tool_name": c.name, "parameters": c.args}
    ),
    "command-a": listed(
        "<|START_ACTION|>{}<|END_ACTION|>",
        lambda c: {"tool_call_id": "0", "tool_name": c.name, "parameters": c.args},
    ),
    "xlam": listed("{}"),
    "xlam tool_calls": whole(
        lambda calls: {"thought": "", "tool_calls": [pair(call) for call in calls]}
    ),
    "nexus raven": coded("Call: {}<bot_end> ", "; "),
    "gorilla": coded("<<function>>{}", "\n<<function>>"),
    "functionary v2": each(
        "<|from|>assistant\n<|recipient|>{name}\n<|content|>{args}", "\n", "{}<|stop|>"
    ),
    "functionary v3": each(">>>{name}\n{args}"),
    "chatml": each("<|im_start|>assistant\n{pair}<|im_end|>"),
    "minimax m1": each("{pair}", "\n", "<tool_calls>\n{}\n</tool_calls>"),
    "minimax m2": tagged(
        '<invoke name="{name}">\n{}</invoke>',
        '<parameter name="{key}">{value}</parameter>\n',
        "<minimax:tool_call>\n{}\n</minimax:tool_call>",
    ),
    "claude xml": tagged(
        '<invoke name="{name}">\n{}</invoke>',
        '<parameter name="{key}">{value}</parameter>\n',
        "<function_calls>\n{}\n</function_calls>",
    ),
    "claude 2 xml": tagged(
        "<invoke>\n<tool_name>{name}</tool_name>\n<parameters>\n{}</parameters>\n</invoke>",
        "<{key}>{value}</{key}>\n",
        "<function_calls>\n{}\n</function_calls>",
    ),
    "internlm 2": each("<|action_start|><|plugin|>\n{llama}<|action_end|>\n"),
    "jamba": listed("<tool_calls>{}</tool_calls>"),
    "nemotron": listed("<TOOLCALL>{}</TOOLCALL>"),
    "olmo 3": coded("<function_calls>\n{}\n</function_calls>", "\n"),
    "apertus": listed("<|tools_prefix|>{}<|tools_suffix|>", lambda c: {c.name: c.args}),
    "step 3": tagged(
        f'<{BAR}tool_call_begin{BAR}>function<{BAR}tool_sep{BAR}><steptml:invoke name="{{name}}">{{}}</steptml:invoke><{BAR}tool_call_end{BAR}>',
        '<steptml:parameter name="{key}">{value}</steptml:parameter>',
        f"<{BAR}tool_calls_begin{BAR}>{{}}<{BAR}tool_calls_end{BAR}>",
    ),
    "seed oss": tagged(
        "<seed:tool_call>\n<function={name}>\n{}</function>\n</seed:tool_call>",
        "<parameter={key}>{value}</parameter>\n",
    ),
    "lfm 2": coded("<|tool_call_start|>[{}]<|tool_call_end|>"),
    "gemma": coded("```tool_code\n{}\n```", "\n"),
    "toolace": coded("[{}]"),
    "react": each("Action: {name}\nAction Input: {args}"),
    "qwen agent": each("\u273fFUNCTION\u273f: {name}\n\u273fARGS\u273f: {args}"),
    "cline": tagged("<{name}>\n{}</{name}>", "<{key}>{value}</{key}>\n"),
    "smolagents": coded("```py\n{}\n```<end_code>", "\n"),
    "parallel": whole(
        lambda calls: {
            "tool_uses": [
                {"recipient_name": f"functions.{c.name}", "parameters": c.args} for c in calls
            ]
        }
    ),
}  # fmt: skip

PROVIDERS: dict[str, Form] = {
    "openai chat": whole(
        lambda calls: {
            "id": "x",
            "object": "chat.completion",
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [function(call) for call in calls],
                    },
                    "finish_reason": "tool_calls",
                }
            ],
            "usage": {"total_tokens": 5},
        }
    ),
    "openai legacy": whole(
        lambda calls: {
            "role": "assistant",
            "content": None,
            "function_call": {"name": calls[0].name, "arguments": dump(calls[0].args)},
        }
    ),
    "openai responses": whole(
        lambda calls: {
            "object": "response",
            "output": [
                {"type": "reasoning", "id": "rs", "summary": []},
                *(
                    {
                        "type": "function_call",
                        "id": "fc",
                        "call_id": "c1",
                        "name": call.name,
                        "arguments": dump(call.args),
                        "status": "completed",
                    }
                    for call in calls
                ),
            ],
        }
    ),
    "anthropic": whole(
        lambda calls: {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Let me see."},
                *({"type": "tool_use", "id": "c1", "name": c.name, "input": c.args} for c in calls),
            ],
            "stop_reason": "tool_use",
        }
    ),
    "gemini": whole(
        lambda calls: {
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [
                            {
                                "functionCall": {"name": c.name, "args": c.args},
                                "thoughtSignature": "x",
                            }
                            for c in calls
                        ],
                    }
                }
            ]
        }
    ),
    "mistral": whole(
        lambda calls: {
            "choices": [{"message": {"content": "", "tool_calls": [function(c) for c in calls]}}]
        }
    ),
    "cohere v1": whole(
        lambda calls: {
            "text": "I look.",
            "tool_calls": [{"name": c.name, "parameters": c.args} for c in calls],
        }
    ),
    "cohere v2": whole(
        lambda calls: {
            "message": {
                "role": "assistant",
                "tool_plan": "I look.",
                "tool_calls": [function(c) for c in calls],
            }
        }
    ),
    "bedrock converse": whole(
        lambda calls: {
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [
                        {"text": "I look."},
                        *(
                            {"toolUse": {"toolUseId": "c1", "name": c.name, "input": c.args}}
                            for c in calls
                        ),
                    ],
                }
            },
            "stopReason": "tool_use",
        }
    ),
    "langchain": whole(
        lambda calls: {
            "type": "ai",
            "content": "",
            "tool_calls": [
                {"name": c.name, "args": c.args, "id": "c1", "type": "tool_call"} for c in calls
            ],
            "invalid_tool_calls": [],
        }
    ),
    "langchain invalid": whole(
        lambda calls: {
            "type": "ai",
            "content": "",
            "tool_calls": [],
            "invalid_tool_calls": [
                {
                    "name": c.name,
                    "args": dump(c.args),
                    "id": "c1",
                    "error": "Expecting value",
                    "type": "invalid_tool_call",
                }
                for c in calls
            ],
        }
    ),
    "ollama": whole(
        lambda calls: {
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"function": {"name": c.name, "arguments": c.args}} for c in calls],
            },
            "done": True,
        }
    ),
}
