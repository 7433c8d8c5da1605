"""What systems answer to one and the same order: for every reader of errors, what only it reads."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

from typing import Any

TOOL = "place_order"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "customer": {"type": "string"},
        "email": {"type": "string", "format": "email"},
        "page_size": {"type": "integer", "minimum": 1, "maximum": 100},
        "cabin": {"type": "string", "enum": ["economy", "business", "first"]},
        "ship_date": {"type": "string", "format": "date"},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "address": {
            "type": "object",
            "properties": {"zip": {"type": "string", "pattern": "^[0-9]{5}$"}},
            "required": ["zip"],
        },
    },
    "required": ["customer", "email"],
}
ARGUMENTS: dict[str, Any] = {
    "email": "nobody at home",
    "page_size": 500,
    "cabin": "busines",
    "ship_date": "soon",
    "tags": ["a", "b", "c", "d"],
    "address": {"zip": "12"},
    "colour": "red",
}

BODIES: dict[str, Any] = {
    # lists of violations, in the forms of validators
    "pydantic: too big": [
        {
            "type": "less_than_equal",
            "loc": ["page_size"],
            "msg": "Input should be less than or equal to 100",
            "ctx": {"le": 100},
        }
    ],
    "pydantic: missing and nested": {
        "detail": [
            {"type": "missing", "loc": ["body", "customer"], "msg": "Field required"},
            {
                "type": "string_pattern_mismatch",
                "loc": ["body", "address", "zip"],
                "msg": "String should match pattern '^[0-9]{5}$'",
                "ctx": {"pattern": "^[0-9]{5}$"},
            },
        ]
    },
    "pydantic: extra": [
        {"type": "extra_forbidden", "loc": ["colour"], "msg": "Extra inputs are not permitted"}
    ],
    "pydantic: literal": {
        "detail": [
            {
                "loc": ["body", "cabin"],
                "msg": "Input should be 'economy', 'business' or 'first'",
                "type": "literal_error",
                "ctx": {"expected": "'economy', 'business' or 'first'"},
            }
        ]
    },
    "zod: too big": {
        "issues": [
            {
                "code": "too_big",
                "maximum": 100,
                "type": "number",
                "inclusive": True,
                "path": ["page_size"],
                "message": "Number must be less than or equal to 100",
            }
        ]
    },
    "zod: keys": [
        {
            "code": "unrecognized_keys",
            "keys": ["colour"],
            "path": [],
            "message": "Unrecognized key(s) in object: 'colour'",
        }
    ],
    "zod: type": {
        "error": {
            "issues": [
                {
                    "code": "invalid_type",
                    "expected": "string",
                    "received": "undefined",
                    "path": ["customer"],
                    "message": "Required",
                }
            ]
        }
    },
    "zod: format": [
        {
            "origin": "string",
            "code": "invalid_format",
            "format": "email",
            "path": ["email"],
            "message": "Invalid email address",
        }
    ],
    "ajv: maximum": [
        {
            "instancePath": "/page_size",
            "schemaPath": "#/properties/page_size/maximum",
            "keyword": "maximum",
            "params": {"comparison": "<=", "limit": 100},
            "message": "must be <= 100",
        }
    ],
    "ajv: required": {
        "errors": [
            {
                "instancePath": "",
                "keyword": "required",
                "params": {"missingProperty": "customer"},
                "message": "must have required property 'customer'",
            },
            {
                "instancePath": "",
                "keyword": "additionalProperties",
                "params": {"additionalProperty": "colour"},
                "message": "must NOT have additional properties",
            },
        ]
    },
    "ajv: enum": [
        {
            "instancePath": "/cabin",
            "keyword": "enum",
            "params": {"allowedValues": ["economy", "business", "first"]},
            "message": "must be equal to one of the allowed values",
        }
    ],
    "joi: max": {
        "details": [
            {
                "message": '"page_size" must be less than or equal to 100',
                "path": ["page_size"],
                "type": "number.max",
                "context": {"limit": 100, "value": 500, "label": "page_size"},
            }
        ]
    },
    "joi: unknown": {
        "statusCode": 400,
        "validation": {
            "body": {
                "details": [
                    {
                        "message": '"colour" is not allowed',
                        "path": ["colour"],
                        "type": "object.unknown",
                        "context": {"child": "colour"},
                    }
                ]
            }
        },
    },
    "joi: required": {
        "details": [
            {
                "message": '"customer" is required',
                "path": ["customer"],
                "type": "any.required",
                "context": {"key": "customer"},
            }
        ]
    },
    # protocols
    "mcp: error result": {
        "isError": True,
        "content": [{"type": "text", "text": "page_size must be at most 100"}],
    },
    "mcp: rpc error": {
        "jsonrpc": "2.0",
        "id": 1,
        "error": {"code": -32602, "message": "Invalid params: customer is required"},
    },
    "mcp: unknown tool": {
        "jsonrpc": "2.0",
        "id": 1,
        "error": {"code": -32601, "message": "Method not found", "data": "tools/order"},
    },
    "kubernetes: causes": {
        "kind": "Status",
        "status": "Failure",
        "reason": "Invalid",
        "code": 422,
        "message": "Order is invalid",
        "details": {
            "causes": [
                {"reason": "FieldValueRequired", "message": "Required value", "field": "customer"}
            ]
        },
    },
    "kubernetes: not found": {
        "kind": "Status",
        "status": "Failure",
        "reason": "NotFound",
        "code": 404,
        "message": 'orders "x" not found',
        "details": {"name": "x", "kind": "orders"},
    },
    "kubernetes: later": {
        "kind": "Status",
        "reason": "TooManyRequests",
        "code": 429,
        "message": "please try again later",
        "details": {"retryAfterSeconds": 7},
    },
    "google: field": {
        "error": {
            "code": 400,
            "message": "Invalid value",
            "status": "INVALID_ARGUMENT",
            "details": [
                {
                    "@type": "type.googleapis.com/google.rpc.BadRequest",
                    "fieldViolations": [
                        {"field": "page_size", "description": "must be at most 100"}
                    ],
                }
            ],
        }
    },
    "google: quota": {
        "error": {
            "code": 429,
            "message": "Quota exceeded",
            "status": "RESOURCE_EXHAUSTED",
            "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "30s"}],
        }
    },
    "google: denied": {
        "error": {
            "code": 403,
            "message": "The caller does not have permission",
            "status": "PERMISSION_DENIED",
        }
    },
    "llm: param": {
        "error": {
            "message": "page_size must be at most 100",
            "type": "invalid_request_error",
            "param": "page_size",
            "code": "integer_above_max_value",
        }
    },
    "llm: quota": {
        "error": {
            "message": "You exceeded your current quota",
            "type": "insufficient_quota",
            "param": None,
            "code": "insufficient_quota",
        }
    },
    "llm: overloaded": {
        "type": "error",
        "error": {"type": "overloaded_error", "message": "Overloaded"},
    },
    "llm: declined": {
        "error": {
            "message": "Your card was declined.",
            "type": "card_error",
            "code": "card_declined",
            "decline_code": "insufficient_funds",
        }
    },
    "odata: target": {
        "error": {
            "code": "BadRequest",
            "message": "Invalid",
            "details": [
                {"code": "OutOfRange", "target": "page_size", "message": "must be at most 100"}
            ],
        }
    },
    "odata: old": {
        "odata.error": {
            "code": "Request_ResourceNotFound",
            "message": {"lang": "en", "value": "Resource 'x' does not exist"},
        }
    },
    "json api: pointer": {
        "errors": [
            {
                "status": "422",
                "source": {"pointer": "/data/attributes/email"},
                "title": "Invalid Attribute",
                "detail": "email is not a valid email address",
            }
        ]
    },
    "json api: parameter": {
        "errors": [
            {
                "status": "400",
                "source": {"parameter": "page_size"},
                "title": "Invalid Query Parameter",
                "detail": "must be at most 100",
            }
        ]
    },
    "graphql: code": {
        "data": None,
        "errors": [
            {
                "message": "Not authorised",
                "path": ["order"],
                "extensions": {"code": "UNAUTHENTICATED"},
            }
        ],
    },
    "graphql: variable": {
        "errors": [
            {
                "message": 'Variable "$page_size" got invalid value "x"; Int cannot represent non-integer value: "x"',
                "locations": [{"line": 1, "column": 7}],
            }
        ]
    },
    "graphql: later": {
        "errors": [{"message": "Throttled", "extensions": {"code": "THROTTLED", "retryAfter": 4}}]
    },
    "problem: members": {
        "type": "https://example.com/probs/validation",
        "title": "Your request is not valid",
        "status": 422,
        "invalid-params": [{"name": "page_size", "reason": "must be at most 100"}],
    },
    "problem: detail": {
        "type": "about:blank",
        "title": "Conflict",
        "status": 409,
        "detail": "The order exists already",
    },
    "problem: map": {
        "type": "https://tools.ietf.org/html/rfc9110#section-15.5.1",
        "title": "One or more validation errors occurred.",
        "status": 400,
        "errors": {"Email": ["The Email field is not a valid e-mail address."]},
    },
    "aws: type": {
        "__type": "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",
        "message": "Requested resource not found",
    },
    "aws: code": {
        "Error": {"Code": "ThrottlingException", "Message": "Rate exceeded"},
        "ResponseMetadata": {"HTTPStatusCode": 400},
    },
    "aws: validation": {
        "__type": "ValidationException",
        "message": "1 validation error detected: Value '500' at 'page_size' failed to satisfy constraint: Member must have value less than or equal to 100",
    },
    "github: field": {
        "message": "Validation Failed",
        "documentation_url": "https://docs.github.com",
        "errors": [{"resource": "Order", "field": "customer", "code": "missing_field"}],
        "status": "422",
    },
    "github: exists": {
        "message": "Repository creation failed.",
        "errors": [{"resource": "Order", "code": "already_exists", "field": "customer"}],
    },
    "github: gone": {
        "message": "Not Found",
        "documentation_url": "https://docs.github.com/rest",
        "status": "404",
    },
    "slack: code": {"ok": False, "error": "channel_not_found"},
    "slack: messages": {
        "ok": False,
        "error": "invalid_arguments",
        "response_metadata": {"messages": ["[ERROR] missing required field: customer"]},
    },
    "slack: later": {
        "ok": False,
        "error_code": 429,
        "description": "Too Many Requests: retry after 35",
        "parameters": {"retry_after": 35},
    },
    "fields: list": {
        "email": ["Enter a valid email address."],
        "customer": ["This field is required."],
    },
    "fields: nested": {
        "errors": {
            "address": {"zip": ["does not match the pattern"]},
            "tags": {"3": ["too many items"]},
        }
    },
    "fields: rails": {"errors": {"page_size": ["must be less than or equal to 100"]}},
    "fields: mongoose": {
        "errors": {
            "cabin": {
                "kind": "enum",
                "path": "cabin",
                "value": "busines",
                "message": "`busines` is not a valid enum value for path `cabin`.",
            }
        },
        "message": "Order validation failed",
    },
    "plain: message": {"message": "page_size must be at most 100", "statusCode": 400},
    "plain: field": {"error": "invalid", "field": "email", "reason": "is not an address"},
    "plain: code": {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "Sorry"},
    "plain: oauth": {"error": "invalid_token", "error_description": "The access token expired"},
    "plain: wait": {"message": "slow down", "retry_after_ms": 2500, "status": 429},
    "plain: unavailable": {"code": "UNAVAILABLE", "detail": "the service is being restarted"},
    "plain: nothing known": {"success": False, "why": "because"},
}
"""JSON bodies, by reader and case."""

TEXTS: dict[str, str] = {
    # text readers
    "jsonschema: maximum": "500 is greater than the maximum of 100\n\nFailed validating 'maximum' in schema['properties']['page_size']:\n    {'maximum': 100, 'type': 'integer'}\n\nOn instance['page_size']:\n    500",
    "jsonschema: required": "'customer' is a required property\n\nFailed validating 'required' in schema:\n    {'required': ['customer']}\n\nOn instance:\n    {}",
    "jsonschema: extra": "Additional properties are not allowed ('colour' was unexpected)\n\nFailed validating 'additionalProperties' in schema:\n    {}\n\nOn instance:\n    {'colour': 'red'}",
    "listing: pydantic": "2 validation errors for Order\ncustomer\n  Field required [type=missing, input_value={}, input_type=dict]\npage_size\n  Input should be less than or equal to 100 [type=less_than_equal, input_value=500, input_type=int]",
    "listing: colons": "Invalid order:\n- email: is not a valid address\n- page_size: must be at most 100",
    "listing: at": "must be at most 100 at page_size\nis required at customer",
    "xml: s3": "<?xml version='1.0'?><Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message><Key>x</Key></Error>",
    "xml: azure": "<Error><Code>OutOfRangeQueryParameterValue</Code><Message>One of the query parameters is outside the range.</Message><QueryParameterName>page_size</QueryParameterName></Error>",
    "xml: soap": "<s:Envelope><s:Body><s:Fault><faultcode>s:Client</faultcode><faultstring>Invalid credentials</faultstring></s:Fault></s:Body></s:Envelope>",
    "html page": "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1><hr>nginx</body></html>",
    "reply: mailbox": "550 5.1.1 <x@y.z>: Recipient address rejected: User unknown",
    "reply: full": "452 4.2.2 mailbox full",
    "status: requests": "404 Client Error: Not Found for url: https://api.example.com/orders/7",
    "status: words": "the server responded with status code 503",
    "suggestion: mean": "unknown field 'colour'; did you mean 'customer'?",
    "suggestion: hint": 'ERROR: column "emial" does not exist\nHINT: Perhaps you meant to reference the column "orders.email".',
    "wait: prose": "Rate limit reached. Please try again in 1m30s.",
    "wait: header": "HTTP 429 Too Many Requests\nRetry-After: 12\n\nslow down",
    "wait: date": "Too many requests; retry after 2026-01-01T00:05:00Z",
    # wrappers
    "traceback": 'Traceback (most recent call last):\n  File "/app/a.py", line 3, in order\n    raise ValueError("page_size must be at most 100")\nValueError: page_size must be at most 100',
    "java": "java.lang.RuntimeException: call failed\n\tat com.shop.Api.call(Api.java:10)\nCaused by: java.lang.IllegalArgumentException: page_size must be at most 100\n\tat com.shop.Page.of(Page.java:7)",
    "node": "Uncaught TypeError: Cannot read properties of undefined (reading 'zip')\n    at order (/app/x.js:3:5)",
    "tool prefix": "Error executing tool place_order: ValueError('customer is required')",
    "mcp prefix": "MCP error -32602: Invalid arguments for tool place_order: email must be a valid address",
    "aws prefix": "An error occurred (AccessDenied) when calling the PutObject operation: Access Denied",
    "grpc prefix": "rpc error: code = DeadlineExceeded desc = context deadline exceeded",
    "grpc python": '<_InactiveRpcError of RPC that terminated with:\n\tstatus = StatusCode.NOT_FOUND\n\tdetails = "no such order"\n>',
    "openai prefix": "Error code: 401 - {'error': {'message': 'Incorrect API key provided', 'type': 'invalid_request_error', 'code': 'invalid_api_key'}}",
    "driver tuple": "(1146, \"Table 'shop.ordrs' doesn't exist\")",
    "driver state": "('42S02', \"[42S02] [Microsoft][ODBC Driver 18][SQL Server]Invalid object name 'ordrs'.\")",
    "sqlalchemy": '(psycopg.errors.UndefinedColumn) column "emial" does not exist\nLINE 1: SELECT emial\n[SQL: SELECT emial FROM orders]',
    "errno": "[Errno 2] No such file or directory: '/tmp/order.json'",
    "kafka": 'KafkaError{code=UNKNOWN_TOPIC_OR_PART,val=3,str="Subscribed topic not available"}',
    "sqlstate": 'SQLSTATE[23505]: Unique violation: duplicate key value violates unique constraint "orders_pkey"',
    "colours": "\x1b[31mError:\x1b[0m page_size must be \x1b[33mat most 100\x1b[0m",
    # sentences alone
    "sentence: range": "page_size must be between 1 and 100",
    "sentence: enum": "cabin must be one of: economy, business, first",
    "sentence: missing": "Missing required parameter: 'customer'",
    "sentence: type": "expected page_size to be a string, got int",
    "sentence: date": "ship_date is not a valid date, use YYYY-MM-DD",
    "sentence: extra": "got an unexpected keyword argument 'colour'",
    "sentence: length": "tags may have at most 3 items",
    "sentence: pattern": "zip does not match ^[0-9]{5}$",
    "sentence: not found": "no customer with this e-mail",
    "sentence: conflict": "an order with this number already exists",
    "sentence: locked": "database is locked",
    "sentence: auth": "invalid API key",
    "sentence: nothing": "it did not work",
    "sentence: empty": "",
    "sentence: echo": "cannot use 'busines' for this order",
    "other language": "El campo customer es obligatorio",
}
"""Messages that are text, by reader and case."""
