import { Users } from "lucide-react";
import { Button } from "@/ui/Button";

/** A field that both changed, or that the other changed. */
export interface Difference {
  name: string;
  theirs: string;
  mine: string;
}

interface EditConflictProps {
  differences: readonly Difference[];
  busy: boolean;
  onTheirs: () => void;
  onMine: () => void;
}

/** Somebody else was faster: both versions side by side, and the choice between them. */
export function EditConflict({ differences, busy, onTheirs, onMine }: EditConflictProps) {
  return (
    <div role="alert" className="space-y-4">
      <p className="flex gap-2.5 rounded-lg border border-warn bg-warn-soft p-3 text-sm text-warn-ink [&_svg]:mt-0.5 [&_svg]:size-4 [&_svg]:shrink-0">
        <Users aria-hidden />
        Somebody changed this while you were editing. Your changes are not saved yet: choose which
        version is to hold.
      </p>
      <table className="w-full table-fixed border-separate border-spacing-x-2 text-sm">
        <thead>
          <tr className="text-left text-xs text-ink-3">
            <th className="pb-1 font-medium">Theirs, which holds now</th>
            <th className="pb-1 font-medium">Yours</th>
          </tr>
        </thead>
        <tbody>
          {differences.map((one) => (
            <tr key={one.name} className="align-top">
              <Version name={one.name} text={one.theirs} />
              <Version name={one.name} text={one.mine} isMine />
            </tr>
          ))}
        </tbody>
      </table>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onTheirs} disabled={busy}>
          Keep theirs
        </Button>
        <Button kind="primary" onClick={onMine} busy={busy}>
          Put mine in its place
        </Button>
      </div>
    </div>
  );
}

function Version({ name, text, isMine }: { name: string; text: string; isMine?: boolean }) {
  return (
    <td className="pb-2">
      <div
        className={
          isMine
            ? "rounded-lg border border-accent bg-accent-soft p-2.5"
            : "rounded-lg border p-2.5"
        }
      >
        <div className="text-xs text-ink-3">{name}</div>
        <div className="memory-text mt-0.5 max-h-60 overflow-y-auto">{text || "nothing"}</div>
      </div>
    </td>
  );
}
