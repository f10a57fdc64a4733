import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import {
  Keyboard,
  KeyRound,
  MessageCircleQuestionMark,
  MessageSquare,
  Moon,
  Plus,
  Quote,
  Scale,
  Search,
  Sun,
  UserRound,
} from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import {
  useDeferredValue,
  useLayoutEffect,
  useRef,
  useState,
  type ReactNode,
  type RefObject,
} from "react";
import { answer, api } from "@/api/client";
import { ENTRIES } from "@/shell/navigation";
import type { OpenedKind } from "@/shell/opened";
import { setTheme } from "@/shell/theme";
import { useFocusReturn } from "@/ui/focus";

interface PaletteProps {
  onClose: () => void;
  onHelp: () => void;
  onUnmask: () => void;
  /** What was typed while this was loading. */
  typedBefore: RefObject<string>;
}

// Of each kind: more words narrow it better than a longer list would.
const SHOWN = 5;

const KINDS = [
  { kind: "fact", heading: "Facts", icon: Quote },
  { kind: "rule", heading: "Rules", icon: Scale },
  { kind: "episode", heading: "Episodes", icon: MessageSquare },
] as const;

function everything(words: string) {
  return {
    queryKey: ["find", words],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      answer(
        api.GET("/api/memory/find", { signal, params: { query: { q: words, limit: SHOWN } } }),
      ),
    enabled: words !== "",
    placeholderData: keepPreviousData,
  };
}

/** ⌘K: pages and commands, and whatever memory finds for the words. */
export default function Palette({ onClose, onHelp, onUnmask, typedBefore }: PaletteProps) {
  const returnFocus = useFocusReturn();
  const navigate = useNavigate();
  const [typed, setTyped] = useState(() => typedBefore.current);
  // What came while this was made ready.
  useLayoutEffect(() => setTyped(typedBefore.current), [typedBefore]);
  const input = useRef<HTMLInputElement>(null);
  const run = (action: () => void) => () => {
    onClose();
    action();
  };
  const words = useDeferredValue(typed.trim());
  const { data: found, isFetching } = useQuery(everything(words));
  const open = (kind: OpenedKind, id: string) =>
    run(
      () =>
        void navigate({
          to: ".",
          search: (now) => ({ ...now, open: `${kind}:${id}` as const }),
          resetScroll: false,
        }),
    );
  const wanted = ({ title }: { title: string }) =>
    title.toLowerCase().includes(typed.trim().toLowerCase());
  const pages = ENTRIES.filter(wanted);
  const commands = [
    {
      title: "Add a fact",
      icon: Plus,
      act: () => void navigate({ to: "/memory/facts", search: { add: "yes" } }),
    },
    { title: "Restore what was masked", icon: KeyRound, act: onUnmask },
    { title: "Use the light theme", icon: Sun, act: () => setTheme("light") },
    { title: "Use the dark theme", icon: Moon, act: () => setTheme("dark") },
    { title: "Show the keyboard shortcuts", icon: Keyboard, act: onHelp },
  ].filter(wanted);
  return (
    <Radix.Root open onOpenChange={(now) => !now && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 animate-appear bg-veil" />
        <Radix.Content
          aria-describedby={undefined}
          // Without selecting what was typed already: the next key would replace it.
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            input.current?.focus();
            const end = input.current?.value.length ?? 0;
            input.current?.setSelectionRange(end, end);
          }}
          onCloseAutoFocus={returnFocus}
          className="fixed top-[12dvh] left-1/2 z-40 w-[min(40rem,calc(100vw-2rem))] -translate-x-1/2 animate-appear overflow-hidden rounded-xl border bg-raised shadow-raised outline-none"
        >
          <Radix.Title className="sr-only">Search everything</Radix.Title>
          <Command shouldFilter={false} loop label="Search everything">
            <Command.Input
              ref={input}
              autoFocus
              value={typed}
              onValueChange={setTyped}
              placeholder="Search facts, rules, episodes, entities and pages"
              className="w-full border-b bg-transparent px-5 py-4 text-lg outline-none placeholder:text-ink-3"
            />
            <Command.List className="max-h-[60dvh] overflow-y-auto p-2">
              <Command.Empty className="px-3 py-8 text-center text-ink-2">
                {isFetching ? "Looking…" : "Nothing found for these words."}
              </Command.Empty>
              {words && (
                <Group heading="Search">
                  <Item
                    value="search"
                    onSelect={run(() => void navigate({ to: "/memory", search: { q: words } }))}
                  >
                    <Search /> Everything about “{words}”
                  </Item>
                </Group>
              )}
              {pages.length > 0 && (
                <Group heading="Pages">
                  {pages.map(({ to, title, icon: Icon }) => (
                    <Item key={to} value={`page ${to}`} onSelect={run(() => void navigate({ to }))}>
                      <Icon /> {title}
                    </Item>
                  ))}
                </Group>
              )}
              {words && (
                <Group heading="Ask">
                  <Item
                    value="ask"
                    onSelect={run(() => void navigate({ to: "/memory/ask", search: { q: words } }))}
                  >
                    <MessageCircleQuestionMark /> Ask “{words}”
                  </Item>
                </Group>
              )}
              {KINDS.map(({ kind, heading, icon: Icon }) => {
                const memories = (words && found?.[`${kind}s`]) || [];
                return (
                  memories.length > 0 && (
                    <Group key={kind} heading={heading}>
                      {memories.map((one) => (
                        <Item
                          key={one.id}
                          value={`${kind} ${one.id}`}
                          onSelect={open(kind, one.id)}
                        >
                          <Icon /> <span className="min-w-0 flex-1 truncate">{one.content}</span>
                          {one.memory_type === "fact" && (
                            <span className="max-w-32 truncate text-xs text-ink-3">
                              {one.subject}
                            </span>
                          )}
                        </Item>
                      ))}
                    </Group>
                  )
                );
              })}
              {words && found && found.entities.length > 0 && (
                <Group heading="Entities">
                  {found.entities.map((one) => (
                    <Item key={one.id} value={`entity ${one.id}`} onSelect={open("entity", one.id)}>
                      <UserRound />{" "}
                      <span className="min-w-0 flex-1 truncate">{one.canonical_name}</span>
                      <span className="text-xs text-ink-3">{one.entity_type}</span>
                    </Item>
                  ))}
                </Group>
              )}
              {commands.length > 0 && (
                <Group heading="Commands">
                  {commands.map(({ title, icon: Icon, act }) => (
                    <Item key={title} value={`command ${title}`} onSelect={run(act)}>
                      <Icon /> {title}
                    </Item>
                  ))}
                </Group>
              )}
            </Command.List>
          </Command>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-ink-3"
    >
      {children}
    </Command.Group>
  );
}

interface ItemProps {
  /** Unlike any other's. */
  value: string;
  onSelect: () => void;
  children: ReactNode;
}

function Item({ value, onSelect, children }: ItemProps) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex items-center gap-3 rounded-md px-3 py-2 text-ink-2 data-[selected=true]:bg-accent-soft data-[selected=true]:text-ink [&_svg]:size-4 [&_svg]:shrink-0"
    >
      {children}
    </Command.Item>
  );
}
