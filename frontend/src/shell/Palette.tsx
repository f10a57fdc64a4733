import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { Keyboard, Moon, Sun } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { useState, type ReactNode } from "react";
import { NAVIGATION } from "@/shell/navigation";
import { setTheme } from "@/shell/theme";

interface PaletteProps {
  onClose: () => void;
  onHelp: () => void;
}

/** ⌘K: pages and commands, and whatever memory finds for the words. */
export default function Palette({ onClose, onHelp }: PaletteProps) {
  const navigate = useNavigate();
  const [typed, setTyped] = useState("");
  const run = (action: () => void) => () => {
    onClose();
    action();
  };
  const wanted = (title: string) => title.toLowerCase().includes(typed.trim().toLowerCase());
  return (
    <Radix.Root open onOpenChange={(now) => !now && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 animate-appear bg-black/45" />
        <Radix.Content
          aria-describedby={undefined}
          className="fixed top-[12dvh] left-1/2 z-40 w-[min(40rem,calc(100vw-2rem))] -translate-x-1/2 animate-appear overflow-hidden rounded-xl border bg-raised shadow-raised outline-none"
        >
          <Radix.Title className="sr-only">Search everything</Radix.Title>
          <Command shouldFilter={false} loop label="Search everything">
            <Command.Input
              value={typed}
              onValueChange={setTyped}
              placeholder="Search facts, rules, episodes, entities and pages"
              className="w-full border-b bg-transparent px-5 py-4 text-lg outline-none placeholder:text-ink-3"
            />
            <Command.List className="max-h-[60dvh] overflow-y-auto p-2">
              <Command.Empty className="px-3 py-8 text-center text-ink-2">
                Nothing found for these words.
              </Command.Empty>
              <Group heading="Pages">
                {NAVIGATION.flatMap((one) => one.entries)
                  .filter((one) => wanted(one.title))
                  .map(({ to, title, icon: Icon }) => (
                    <Item key={to} value={`page ${to}`} onSelect={run(() => void navigate({ to }))}>
                      <Icon /> {title}
                    </Item>
                  ))}
              </Group>
              <Group heading="Commands">
                {[
                  { title: "Use the light theme", icon: Sun, act: () => setTheme("light") },
                  { title: "Use the dark theme", icon: Moon, act: () => setTheme("dark") },
                  { title: "Show the keyboard shortcuts", icon: Keyboard, act: onHelp },
                ]
                  .filter((one) => wanted(one.title))
                  .map(({ title, icon: Icon, act }) => (
                    <Item key={title} value={`command ${title}`} onSelect={run(act)}>
                      <Icon /> {title}
                    </Item>
                  ))}
              </Group>
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
