"""Secrets planted everywhere: none of the kinds that detect-secrets knows is shown anywhere.

What is stored, and said to be stored: the call's own arguments (they have to be executed), the
request and messages that came with it, and the tool's own result. Everything that is shown, a
prompt, a log, the trail, a report, a question, is free of them.
"""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from selfcorrect import Fix, ToolSpec, build_graph, on_error
from selfcorrect.testing import ScriptedModel

HEX = "0123456789abcdef"
ALNUM = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"


def some(size: int, alphabet: str = ALNUM) -> str:
    return (alphabet * (size // len(alphabet) + 1))[:size]


# The detectors of detect-secrets, each with a secret of its kind as one meets it in real text.
# Left out: public IP addresses, which are no secrets, and bare high-entropy strings without a
# name, a prefix or a place that says what they are.
SECRETS = {
    "ArtifactoryDetector": ("X-JFrog-Art-Api:AKC" + some(12), "AKC" + some(12)),
    "AWSKeyDetector": ("the key AKIAIOSFODNN7QXAMPLE was refused", "AKIAIOSFODNN7QXAMPLE"),
    "AzureStorageKeyDetector": ("AccountKey=" + some(86) + "==;", some(86)),
    "BasicAuthDetector": ("https://ann:c0rrecthorse@example.org/x", "c0rrecthorse"),
    "CloudantDetector": (
        "https://acc:" + some(64, HEX) + "@acc.cloudant.com",
        some(64, HEX),
    ),
    "DiscordBotTokenDetector": (
        "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
        "ZnCjm1XVW7vRze4b7Cq4se7kKWs",
    ),
    "GitHubTokenDetector": ("ghp_" + some(36), "ghp_" + some(36)),
    "GitLabTokenDetector": ("glpat-" + some(20), "glpat-" + some(20)),
    "Base64HighEntropyString": ('secret = "' + some(40) + '"', some(40)),
    "HexHighEntropyString": ('api_key = "' + some(40, HEX) + '"', some(40, HEX)),
    "IbmCloudIamDetector": ("ibm_cloud_iam_api_key: " + some(44), some(44)),
    "IbmCosHmacDetector": ("cos_hmac_secret_access_key = " + some(48, HEX), some(48, HEX)),
    "JwtTokenDetector": (
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
        "dozjgNryP4J3jVmNHl0w5N",
    ),
    "KeywordDetector": ('password = "hunter2!x"', "hunter2!x"),
    "MailchimpDetector": (some(32, HEX) + "-us12", some(32, HEX)),
    "NpmDetector": ("//registry.npmjs.org/:_authToken=npm_" + some(36), "npm_" + some(36)),
    "OpenAIDetector": (
        "sk-" + some(20) + "T3BlbkFJ" + some(20),
        "T3BlbkFJ",
    ),
    "PrivateKeyDetector": (
        "-----BEGIN RSA PRIVATE KEY-----\n" + some(64) + "\n-----END RSA PRIVATE KEY-----",
        some(64),
    ),
    "PypiTokenDetector": ("pypi-AgEIcHlwaS5vcmc" + some(70), "AgEIcHlwaS5vcmc"),
    "SendGridDetector": ("SG." + some(22) + "." + some(43), some(22) + "." + some(43)),
    "SlackDetector": ("xoxb-123456789012-123456789012-" + some(24), some(24)),
    "SoftlayerDetector": ("softlayer_api_key = " + some(64, HEX), some(64, HEX)),
    "SquareOAuthDetector": ("sq0csp-" + some(43), some(43)),
    "StripeDetector": ("sk_live_" + some(24), "sk_live_" + some(24)),
    "TelegramBotTokenDetector": (
        "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw8",
        "AAHdqTcvCH1vGWJ",
    ),
    "TwilioKeyDetector": ("SK" + some(32, HEX), some(32, HEX)),
}

ALL = pytest.mark.parametrize("kind", SECRETS)
CONFIG: Any = {"configurable": {"thread_id": "t"}}


def test_the_list_is_that_of_detect_secrets():
    util = pytest.importorskip("detect_secrets.core.plugins.util", reason="needs the extra dev")
    known = {cls.__name__ for cls in util.get_mapping_from_secret_type_to_class().values()}
    assert known - SECRETS.keys() == {"IPPublicDetector"}


class Told(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


@pytest.fixture
def told():
    handler, logger = Told(), logging.getLogger("selfcorrect")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(before)


def refuse(text: str, status: int = 422) -> Exception:
    error = RuntimeError(text)
    error.status_code = status
    return error


def tool(error: Exception | None, result: Any = "done", handler: Any = None) -> ToolSpec:
    def act(a: int, note: str = "", mood: str = "") -> Any:
        """Act."""
        if error is not None:
            raise error
        return result

    schema = {
        "name": "act",
        "parameters": {
            "type": "object",
            "properties": {
                "a": {"type": "integer"},
                "note": {"type": "string"},
                "mood": {"enum": ["glad", "sad"]},
            },
            "required": ["a"],
        },
    }
    return ToolSpec.from_schema(schema, call=act, effect="read_only", on_error=handler)


def shown(out: Any) -> str:
    """Everything of an output that people or machines read, but the tool's own result."""
    visible = {key: value for key, value in out.items() if key not in ("result", "__interrupt__")}
    asked = [getattr(item, "value", item) for item in out.get("__interrupt__", ())]
    return json.dumps([visible, asked], default=str, ensure_ascii=False)


@ALL
def test_in_an_error(kind, told):
    text, secret = SECRETS[kind]
    model = ScriptedModel([{"a": 2}] * 9)
    error = refuse(f"a: refused, {text}")
    saver = InMemorySaver()
    graph = build_graph([tool(error)], model=model, checkpointer=saver)
    out = graph.invoke({"call": {"name": "act", "args": {"a": 1}}, "request": "do"}, CONFIG)
    stored = str([state.values for state in graph.get_state_history(CONFIG)])
    for place in (shown(out), str(model.prompts), "\n".join(told.texts), stored):
        assert secret not in place


@ALL
def test_in_the_arguments(kind, told):
    text, secret = SECRETS[kind]
    model = ScriptedModel([{"unknown": True}] * 9)
    graph = build_graph([tool(None)], model=model, checkpointer=InMemorySaver())
    args = {"a": "many", "note": text, "mood": text}
    out = graph.invoke({"call": {"name": "act", "args": args}, "request": f"use {text}"}, CONFIG)
    assert model.prompts
    for place in (shown(out), str(model.prompts), "\n".join(told.texts)):
        assert secret not in place
    done = graph.invoke(Command(resume={"action": "reject", "reason": text}), CONFIG)
    assert secret not in shown(done)
    alone = build_graph([tool(None)]).invoke({"call": {"name": "act", "args": args}})
    assert alone["failure"]["reason"] == "needs_person"
    assert secret not in shown(alone)


@ALL
def test_in_a_result(kind, told):
    text, secret = SECRETS[kind]
    out = build_graph([tool(None, text)]).invoke({"call": {"name": "act", "args": {"a": "1"}}})
    assert out["result"] == text
    assert secret not in shown(out)
    assert secret not in "\n".join(told.texts)


@ALL
def test_in_a_models_answer(kind, told):
    text, secret = SECRETS[kind]
    for answer in (text, {"mood": text}, {"mood": "glad", "note": text}):
        model = ScriptedModel([answer] * 9)
        given = {"call": {"name": "act", "args": {"a": 1, "mood": "odd"}}, "request": "be glad"}
        out = build_graph([tool(None)], model=model).invoke(given)
        assert secret not in shown(out) + str(model.prompts) + "\n".join(told.texts)
    handler = on_error(execution_error=Fix(ScriptedModel([RuntimeError(text)] * 9)))
    out = build_graph([tool(refuse("no"), handler=handler)], limits={"model_calls": 1}).invoke(
        {"call": {"name": "act", "args": {"a": 1}}}
    )
    assert secret not in shown(out)


@ALL
def test_in_a_text_that_is_no_call(kind, told):
    text, secret = SECRETS[kind]
    model = ScriptedModel(["no"] * 9)
    raw = json.dumps({"name": "act", "args": {"a": 1, "note": text}})[:-1] + ' "b" }}]'
    out = build_graph([tool(None)], model=model).invoke({"raw": raw})
    assert secret not in shown(out) + str(model.prompts) + "\n".join(told.texts)


@ALL
def test_in_what_a_fixer_raises_or_hands_up(kind):
    from selfcorrect import Escalation, HardFailure

    text, secret = SECRETS[kind]
    for raised in (OSError(text), Escalation(text), HardFailure(text)):

        def fixer(request, raised=raised):
            raise raised

        handler = on_error(execution_error=Fix(fixer, 0))
        out = build_graph([tool(refuse("no"), handler=handler)]).invoke(
            {"call": {"name": "act", "args": {"a": 1}}}
        )
        assert "failure" in out
        assert secret not in shown(out)


@ALL
def test_detect_secrets_itself_knows_the_planted_ones_and_finds_them_no_more(kind):
    plugins = pytest.importorskip("detect_secrets.core.plugins.util", reason="needs the extra dev")
    from selfcorrect.kernel.texts import outside, redact

    text, secret = SECRETS[kind]
    classes = {c.__name__: c for c in plugins.get_mapping_from_secret_type_to_class().values()}
    detector = classes[kind]()
    assert list(detector.analyze_string(text))
    for shown_text in (redact(text), outside(text)):
        assert secret not in shown_text
        left = [found for found in detector.analyze_string(shown_text) if "[secret]" not in found]
        assert kind == "PrivateKeyDetector" or not left
