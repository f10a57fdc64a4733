"""What the conformance suite asks for beside our own tools: test tools, resources and prompts.

The suite calls tools by fixed names ("test_simple_text"). They are added here to the real server,
which keeps its own tools, its guard and its HTTP settings: what is tested is how those carry the
protocol. Results are written as the protocol has them on the wire; the SDK validates each.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    EmptyResult,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    RequestParams,
    Result,
    SubscribeRequestParams,
    Tool,
    UnsubscribeRequestParams,
)

Context = ServerRequestContext[Any]
Wire = dict[str, Any]

# One red pixel, and a header of a WAV file with one silent sample.
_PNG: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJ"
    "RU5ErkJggg=="
)
_WAV: Final = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA=="
_MISSING_CAPABILITY: Final = -32021


def _text(text: str) -> Wire:
    return {"type": "text", "text": text}


_IMAGE: Final = {"type": "image", "data": _PNG, "mimeType": "image/png"}


def _resource(uri: str, mime_type: str, text: str) -> Wire:
    return {
        "type": "resource",
        "resource": {"uri": uri, "mimeType": mime_type, "text": text},
    }


# --- tools ----------------------------------------------------------------------------------------

_PLAIN: Final[Mapping[str, list[Wire]]] = {
    "test_simple_text": [_text("This is a simple text response for testing.")],
    "test_image_content": [_IMAGE],
    "test_audio_content": [{"type": "audio", "data": _WAV, "mimeType": "audio/wav"}],
    "test_embedded_resource": [
        _resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        _text("Multiple content types test:"),
        _IMAGE,
        _resource(
            "test://mixed-content-resource", "application/json", '{"test":"data","value":123}'
        ),
    ],
    "json_schema_2020_12_tool": [_text("ok")],
    "test_custom_headers": [_text("ok")],
    # Checked not to log where the client asked for no logs: our tools never do.
    "test_logging_tool": [_text("ok")],
}

_NOTHING: Final[Wire] = {"type": "object", "properties": {}}
_SCHEMAS: Final[Mapping[str, Wire]] = {
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
    "test_custom_headers": {
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "priority": {"type": "integer", "x-mcp-header": "Priority"},
            "query": {"type": "string"},
        },
        "required": ["region"],
    },
}


def _elicit(message: str, name: str, kind: str = "string") -> Wire:
    return {
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": message,
            "requestedSchema": {
                "type": "object",
                "properties": {name: {"type": kind}},
                "required": [name],
            },
        },
    }


def _sample(question: str) -> Wire:
    message = {"role": "user", "content": _text(question)}
    return {
        "method": "sampling/createMessage",
        "params": {"messages": [message], "maxTokens": 100},
    }


_ROOTS: Final[Wire] = {"method": "roots/list", "params": {}}
_NAME: Final = _elicit("What is your name?", "name")

# What each tool asks of the client, round by round, and whether it hands out a state to bring back.
_ASKING: Final[Mapping[str, tuple[tuple[Wire, ...], bool]]] = {
    "test_streaming_elicitation": (({"user_name": _NAME},), False),
    "test_input_required_result_elicitation": (({"user_name": _NAME},), False),
    "test_input_required_result_sampling": (
        ({"capital_question": _sample("What is the capital of France?")},),
        False,
    ),
    "test_input_required_result_list_roots": (({"client_roots": _ROOTS},), False),
    "test_input_required_result_request_state": (
        ({"confirm": _elicit("Please confirm", "ok", "boolean")},),
        True,
    ),
    "test_input_required_result_tampered_state": (
        ({"confirm": _elicit("Please confirm", "ok", "boolean")},),
        True,
    ),
    "test_input_required_result_multiple_inputs": (
        (
            {
                "user_name": _NAME,
                "greeting": _sample("Generate a greeting"),
                "client_roots": _ROOTS,
            },
        ),
        True,
    ),
    "test_input_required_result_multi_round": (
        (
            {"step1": _elicit("Step 1: What is your name?", "name")},
            {"step2": _elicit("Step 2: What is your favorite color?", "color")},
        ),
        True,
    ),
    "test_input_required_result_capabilities": (
        ({"user_name": _NAME, "capital_question": _sample("What is the capital of France?")},),
        False,
    ),
}
_NEEDED: Final = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}


def _ask(context: Context, name: str, params: CallToolRequestParams) -> Wire:
    """A round of questions, or the answer once all rounds are answered."""
    rounds, has_state = _ASKING[name]
    at = int(params.request_state or 0)
    answers = params.input_responses or {}
    if rounds[at].keys() <= answers.keys():
        at += 1
    if at == len(rounds):
        said = [f"{key}: {value.model_dump_json()}" for key, value in sorted(answers.items())]
        return {"content": [_text("; ".join(["state-ok" if has_state else "done", *said]))]}
    able = _capabilities(context)
    questions = {
        key: asked for key, asked in rounds[at].items() if _NEEDED[asked["method"]] in able
    }
    asking: Wire = {"resultType": "input_required", "inputRequests": questions}
    if has_state:
        asking["requestState"] = str(at)
    return asking


def _capabilities(context: Context) -> Wire:
    meta: Mapping[str, Any] = context.meta or {}
    declared: Wire = meta.get("io.modelcontextprotocol/clientCapabilities", {})
    return declared


async def _call(context: Context, params: CallToolRequestParams) -> Wire:
    name = params.name
    if name in _PLAIN:
        return {"content": _PLAIN[name]}
    if name in _ASKING:
        return _ask(context, name, params)
    if name == "test_missing_capability" and "sampling" not in _capabilities(context):
        raise MCPError(
            _MISSING_CAPABILITY,
            "This tool needs the client's sampling.",
            {"requiredCapabilities": {"sampling": {}}},
        )
    return {"content": [_text("This tool intentionally returns an error")], "isError": True}


_TOOLS: Final = [
    Tool(name=name, description="For the tests.", input_schema=_SCHEMAS.get(name, _NOTHING))
    for name in (*_PLAIN, *_ASKING, "test_error_handling", "test_missing_capability")
]

# --- resources, prompts, completion ---------------------------------------------------------------

_RESOURCES: Final[Mapping[str, Wire]] = {
    "test://static-text": {
        "mimeType": "text/plain",
        "text": "This is the content of the static text resource.",
    },
    "test://static-binary": {"mimeType": "image/png", "blob": _PNG},
    "test://watched-resource": {"mimeType": "text/plain", "text": "Watched resource content"},
}
_TEMPLATE: Final = "test://template/{id}/data"


async def _list_resources(_: Context, __: PaginatedRequestParams) -> Wire:
    return {
        "resources": [
            {"uri": uri, "name": uri.rpartition("/")[2], "mimeType": content["mimeType"]}
            for uri, content in _RESOURCES.items()
        ]
    }


async def _list_templates(_: Context, __: PaginatedRequestParams) -> Wire:
    return {"resourceTemplates": [{"uriTemplate": _TEMPLATE, "name": "template"}]}


async def _read_resource(_: Context, params: ReadResourceRequestParams) -> Wire:
    uri = str(params.uri)
    before, after = _TEMPLATE.split("{id}")
    content: Wire
    if uri in _RESOURCES:
        content = _RESOURCES[uri]
    elif uri.startswith(before) and uri.endswith(after):
        id_ = uri.removeprefix(before).removesuffix(after)
        data = {"id": id_, "templateTest": True, "data": f"Data for ID: {id_}"}
        content = {"mimeType": "application/json", "text": json.dumps(data)}
    else:
        raise MCPError(INVALID_PARAMS, "Resource not found", {"uri": uri})
    return {"contents": [{"uri": uri, **content}]}


async def _subscribe(_: Context, __: SubscribeRequestParams | UnsubscribeRequestParams) -> Wire:
    return {}


_PROMPTS: Final[Mapping[str, tuple[str, ...]]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}


async def _list_prompts(_: Context, __: PaginatedRequestParams) -> Wire:
    return {
        "prompts": [
            {
                "name": name,
                "description": "For the tests.",
                "arguments": [{"name": one, "required": True} for one in arguments],
            }
            for name, arguments in _PROMPTS.items()
        ]
    }


async def _get_prompt(_: Context, params: GetPromptRequestParams) -> Wire:
    given = params.arguments or {}
    match params.name:
        case "test_simple_prompt":
            said = [_text("This is a simple prompt for testing.")]
        case "test_prompt_with_arguments":
            said = [_text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")]
        case "test_prompt_with_embedded_resource":
            content = "Embedded resource content for testing."
            said = [
                _resource(given["resourceUri"], "text/plain", content),
                _text("Please process the embedded resource above."),
            ]
        case "test_prompt_with_image":
            said = [_IMAGE, _text("Please analyze the image above.")]
        case "test_input_required_result_prompt":
            if not params.input_responses:
                question = _elicit("What context should the prompt use?", "context")
                return {
                    "resultType": "input_required",
                    "inputRequests": {"user_context": question},
                }
            said = [_text("A prompt in the context that was given.")]
        case _:
            raise MCPError(INVALID_PARAMS, f"Unknown prompt: {params.name}")
    return {"messages": [{"role": "user", "content": one} for one in said]}


async def _complete(_: Context, __: CompleteRequestParams) -> Wire:
    return {"completion": {"values": [], "total": 0, "hasMore": False}}


# --- the server -----------------------------------------------------------------------------------

Build = Callable[..., Server[Any]]
Handler = Callable[[Context, Any], Awaitable[Any]]

_METHODS: Final[tuple[tuple[str, type[RequestParams], type[Result], Handler], ...]] = (
    ("resources/list", PaginatedRequestParams, ListResourcesResult, _list_resources),
    (
        "resources/templates/list",
        PaginatedRequestParams,
        ListResourceTemplatesResult,
        _list_templates,
    ),
    ("resources/read", ReadResourceRequestParams, ReadResourceResult, _read_resource),
    ("resources/subscribe", SubscribeRequestParams, EmptyResult, _subscribe),
    ("resources/unsubscribe", UnsubscribeRequestParams, EmptyResult, _subscribe),
    ("prompts/list", PaginatedRequestParams, ListPromptsResult, _list_prompts),
    ("prompts/get", GetPromptRequestParams, GetPromptResult, _get_prompt),
    ("completion/complete", CompleteRequestParams, CompleteResult, _complete),
)


def _typed(gives: type[Result], handler: Handler) -> Handler:
    """The handler, its answer made the SDK's own type, which fills in what each version wants."""

    async def typed(context: Context, params: Any) -> Result:
        answer = await handler(context, params)
        asks = answer.get("resultType") == "input_required"
        return (InputRequiredResult if asks else gives).model_validate(answer)

    return typed


def with_test_tools(build: Build) -> Build:
    """The real builder of an MCP server, what it builds extended by what the suite asks for."""

    def extended(*arguments: Any) -> Server[Any]:
        server = build(*arguments)
        own_list = _handler(server, "tools/list")
        own_call = _handler(server, "tools/call")
        test_call = _typed(CallToolResult, _call)
        schemas = {tool.name: tool.input_schema for tool in _TOOLS}
        own_schema = server.get_tool_input_schema
        assert own_schema is not None

        def schema(name: str) -> Mapping[str, Any] | None:
            return schemas[name] if name in schemas else own_schema(name)

        server.get_tool_input_schema = schema

        async def list_tools(context: Context, params: PaginatedRequestParams) -> ListToolsResult:
            own: ListToolsResult = await own_list(context, params)
            return ListToolsResult(tools=[*own.tools, *_TOOLS])

        async def call_tool(context: Context, params: CallToolRequestParams) -> Any:
            answer = test_call if params.name in schemas else own_call
            return await answer(context, params)

        for method, takes, gives, handler in _METHODS:
            server.add_request_handler(method, takes, _typed(gives, handler))
        add = server.add_request_handler
        add("tools/list", PaginatedRequestParams, list_tools)
        add("tools/call", CallToolRequestParams, call_tool)
        security = RequestStateSecurity.ephemeral()
        server.middleware.append(RequestStateBoundary(security, default_audience=server.name))
        return server

    return extended


def _handler(server: Server[Any], method: str) -> Handler:
    entry = server.get_request_handler(method)
    assert entry is not None
    return entry.handler
