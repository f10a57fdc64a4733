import { memo, type ReactNode } from "react";

type Block =
  | { kind: "text" | "heading" | "code"; text: string }
  | { kind: "list"; items: { indent: number; mark: string; text: string }[] };

const FENCE = /^\s*(```|~~~)/;
const ITEM = /^(\s*)([-*+•]|\d{1,3}[.)])\s+(.*)$/;
const HEADING = /^#{1,6}\s+(.*)$/;

// A path of Windows, whose backslashes escape nothing; an escaped mark, code, bold, italic with one or the other
// mark, a link or picture. None goes over the end of a line, and each is bounded: a text of unclosed marks must not
// hold up the page.
const INLINE =
  /(?<![\p{L}\p{N}])(?:[A-Za-z]:|\\\\[\p{L}\p{N}.-]{1,100})\\(?!\\)[^\s`*"<>|]{0,500}|\\([\\`*_[\]#])|(`{1,2})([^`\n]+)\2(?!`)|\*\*(?=\S)([^\n]{1,2000}?)(?<=\S)\*\*(?!\*)|(?<![\p{L}\p{N}*])\*(?=[^\s*])([^\n]{1,2000}?)(?<=[^\s*])\*(?![\p{L}\p{N}*])|(?<![\p{L}\p{N}_])_(?=[^\s_])([^\n]{1,2000}?)(?<=[^\s_])_(?![\p{L}\p{N}_])|!?\[([^\]\n]{1,500})\]\(([^\s()]{1,2000})\)/gu;
const OPENING = /(?<![\p{L}\p{N}*_`])(?:\*{1,3}|_|`)(?=[^\s*_`])/gu;

interface MarkdownProps {
  text: string;
  /** More of it is being written: a mark that is open counts as closed, so that none is shown and then taken away. */
  growing?: boolean;
}

/**
 * The little Markdown that models write: bold, italic, code, lists, and headings as bold lines. The rest stays as
 * it is. Nothing in it is opened or loaded: a link or a picture is its text and its address.
 */
export const Markdown = memo(function Markdown({ text, growing = false }: MarkdownProps) {
  return (
    <div className="space-y-2">
      {blocksOf(text, growing).map((one, index) =>
        one.kind === "list" ? (
          <ul key={index} className="pl-5">
            {one.items.map(({ indent, mark, text: said }, place) => (
              <li
                key={place}
                className="memory-text"
                // The number as it is written: a list may go on below a paragraph.
                style={{ listStyleType: `"${mark} "`, marginInlineStart: `${indent}ch` }}
              >
                {inline(said)}
              </li>
            ))}
          </ul>
        ) : one.kind === "code" ? (
          <pre key={index} className="memory-text rounded-md bg-sunken p-2 font-mono text-xs">
            {one.text}
          </pre>
        ) : (
          <p key={index} className="memory-text">
            {one.kind === "heading" ? <Strong>{inline(one.text)}</Strong> : inline(one.text)}
          </p>
        ),
      )}
    </div>
  );
});

function blocksOf(text: string, growing: boolean): Block[] {
  const blocks: Block[] = [];
  const lines = text.split("\n");
  // What the next line goes on with; after an empty line, nothing.
  let open: Block | undefined;
  const begin = (one: Block) => blocks.push((open = one));
  for (const [place, read] of lines.entries()) {
    const isLast = growing && place === lines.length - 1;
    const fence = FENCE.test(read);
    if (open?.kind === "code") {
      if (fence) open = undefined;
      else if (!(isLast && /^\s*`+$/.test(read))) open.text += open.text ? `\n${read}` : read;
      continue;
    }
    const line = isLast && !fence ? closed(read) : read;
    const item = ITEM.exec(line);
    const heading = HEADING.exec(line)?.[1];
    if (fence) begin({ kind: "code", text: "" });
    else if (!line.trim()) open = undefined;
    else if (heading !== undefined) {
      begin({ kind: "heading", text: heading });
      open = undefined;
    } else if (item) {
      const [, indent = "", mark = "", said = ""] = item;
      if (open?.kind !== "list") begin((open = { kind: "list", items: [] }));
      const sign = /\d/.test(mark) ? mark : "•";
      open.items.push({ indent: Math.min(indent.length, 12), mark: sign, text: said });
    } else if (open?.kind === "list" && /^\s/.test(line)) {
      open.items.at(-1)!.text += `\n${line.trim()}`;
    } else if (open?.kind === "text") open.text += `\n${line}`;
    else begin({ kind: "text", text: line });
  }
  return blocks;
}

/** The last line of a text that grows, without a mark that has just begun, and with its open ones closed. */
function closed(line: string): string {
  const begun = line
    .trimEnd()
    .replace(/^\s*(?:[-+#]+|\d+[.)])$|[*_`]+$/u, "")
    .trimEnd();
  const marks: string[] = begun.replace(INLINE, "").match(OPENING) ?? [];
  const code = marks.indexOf("`");
  // Within code no other mark counts.
  return begun + (code < 0 ? marks : marks.slice(0, code + 1)).toReversed().join("");
}

function inline(text: string): ReactNode[] {
  const found: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [all, escaped, , code, bold, starred, lined, name, address] = match;
    found.push(text.slice(end, match.index));
    end = match.index + all.length;
    const italic = starred ?? lined;
    if (escaped) found.push(escaped);
    else if (code) found.push(<Code key={end}>{code}</Code>);
    else if (bold) found.push(<Strong key={end}>{inline(bold)}</Strong>);
    else if (italic) found.push(<em key={end}>{inline(italic)}</em>);
    else if (name) found.push(...inline(name), name === address ? "" : ` (${address})`);
    else found.push(all);
  }
  return [...found, text.slice(end)];
}

function Strong({ children }: { children: ReactNode }) {
  return <strong className="font-semibold">{children}</strong>;
}

function Code({ children }: { children: string }) {
  return <code className="rounded bg-sunken px-1 py-0.5 font-mono text-[0.9em]">{children}</code>;
}
