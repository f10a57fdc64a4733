import type { ReactNode } from "react";
import { ENTRIES } from "@/shell/navigation";
import { Dialog } from "@/ui/Dialog";
import { Key } from "@/ui/Key";

const GENERAL: readonly [string[], string][] = [
  [["Ctrl", "K"], "Search everything (⌘ K on a Mac)"],
  [["/"], "Search on this page"],
  [["↑", "↓"], "Move between rows"],
  [["Enter"], "Open a row"],
  [["x"], "Select a fact of the list"],
  [["Ctrl", "Enter"], "Save what is typed"],
  [["Esc"], "Close what lies on top"],
  [["F8"], "Go to the notifications"],
  [["?"], "Show this list"],
];

const INBOX: readonly [string[], string][] = [
  [["k"], "Confirm, accept or keep both"],
  [["a"], "Archive"],
  [["e"], "The earlier one holds"],
  [["l"], "The later one holds"],
  [["m"], "Merge a duplicate"],
  [["r"], "Retry a dead letter"],
  [["s"], "Skip"],
  [["u"], "Undo the last decision"],
];

const CHAT: readonly [string[], string][] = [
  [["Enter"], "Send"],
  [["Shift", "Enter"], "New line"],
  [["Esc"], "Stop the reply"],
  [["↑"], "Bring back your last message"],
];

export default function ShortcutsHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title="Keyboard shortcuts">
      <div className="grid gap-x-8 gap-y-5 sm:grid-cols-2">
        <Group title="Everywhere">
          {GENERAL.map(([keys, does]) => (
            <Shortcut key={does} keys={keys} does={does} />
          ))}
        </Group>
        <Group title="In the inbox">
          {INBOX.map(([keys, does]) => (
            <Shortcut key={does} keys={keys} does={does} />
          ))}
        </Group>
        <Group title="In the chat">
          {CHAT.map(([keys, does]) => (
            <Shortcut key={does} keys={keys} does={does} />
          ))}
        </Group>
        <Group title="Go to">
          {ENTRIES.map((one) => (
            <Shortcut key={one.key} keys={["g", one.key]} does={one.title} />
          ))}
        </Group>
      </div>
    </Dialog>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <h3 className="mb-2 text-xs font-medium text-ink-3">{title}</h3>
      <dl className="space-y-2">{children}</dl>
    </div>
  );
}

function Shortcut({ keys, does }: { keys: readonly string[]; does: string }) {
  return (
    <div className="flex items-baseline justify-between gap-3">
      <dt className="text-sm text-ink-2">{does}</dt>
      <dd className="flex gap-1 whitespace-nowrap">
        {keys.map((key) => (
          <Key key={key}>{key}</Key>
        ))}
      </dd>
    </div>
  );
}
