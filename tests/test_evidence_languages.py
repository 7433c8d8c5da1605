"""Errors in other languages: as far as plain words and structure carry."""

import pytest
from asked import decide, read_report

from selfcorrect.mapping.loading import load_map

SAID = [
    ("cat: /etc/geheim: Keine Berechtigung", "auth", "none"),
    ("ls: Zugriff auf 'x' nicht möglich: Datei oder Verzeichnis nicht gefunden", "not_found", None),
    ("cp: fehlender Zieldatei-Operand hinter 'a'", "validation", "missing_param"),
    ("Eine gültige Zahl ist erforderlich.", "validation", "wrong_type"),
    ("Dieses Feld muss eindeutig sein.", "conflict", "duplicate"),
    ("Ein Zweig namens 'x' existiert bereits", "conflict", "duplicate"),
    ("E: Impossible de trouver le paquet x", "not_found", "unknown_resource"),
    ("head: nombre de lignes incorrect: « abc »", "validation", "wrong_type"),
    ("Ce champ doit être unique.", "conflict", "duplicate"),
    ("La valeur doit être un JSON valide.", "validation", "malformed_json"),
    ("Connexion refusée", "transient", "none"),
    ("bash: x: orden no encontrada", "not_found", "unknown_tool"),
    ("Se requiere un número válido.", "validation", "wrong_type"),
    ("Este valor no coincide con el patrón requerido.", "validation", "format_pattern"),
    ("Permiso denegado", "auth", "none"),
    ("Este campo deve ser único.", "conflict", "duplicate"),
    ("Esperava uma lista de itens, mas recebeu texto.", "validation", "wrong_type"),
    ("Это поле должно быть уникально.", "conflict", "duplicate"),
    ("Отказано в доступе", "auth", "none"),
    ("Нет такого файла или каталога", "not_found", "unknown_resource"),
    ("head: 無効な行数: 'abc'", "validation", "wrong_type"),
    ("この値は所要のパターンにマッチしません。", "validation", "format_pattern"),
    ("コマンドが見つかりません", "not_found", "unknown_tool"),
    ("接続を拒否されました", "transient", "none"),
    ("E: 无法定位软件包 x", "not_found", "unknown_resource"),
    ("致命错误:未识别的参数:--x", "validation", "extra_param"),
    ("该字段必须唯一。", "conflict", "duplicate"),
    ("请求过于频繁", "rate_limit", "none"),
    ("هذا الحقل مطلوب.", "validation", "missing_param"),
    ("غير موجود.", "not_found", "unknown_resource"),
]


AGAIN = {"transient", "rate_limit", "timeout"}


def read(text, **how):
    (found,) = read_report(text, arguments={"command": "run it"})
    return decide(found, load_map(), None, {"command": "run it"}, **how)


def test_most_are_understood():
    """No phrase of these languages is a rule: what they mean is learned from catalogs."""
    found = [(read(text, acts=False), kind, category) for text, kind, category in SAID]
    kinds = [each.kind == kind for each, kind, _ in found]
    both = [
        each.kind == kind and category in (None, each.category) for each, kind, category in found
    ]
    assert sum(kinds) >= 0.7 * len(kinds)
    assert sum(both) >= 0.5 * len(both)


@pytest.mark.parametrize(("text", "kind", "category"), SAID)
def test_what_is_not_understood_is_not_repeated(text, kind, category):
    found = read(text)
    assert found.kind.value not in AGAIN - {kind}
