import { introduce, type Introduction } from "@/pages/journal/corrections";
import { useChange } from "@/shell/change";
import { timeZone } from "@/shell/days";
import { Button } from "@/ui/Button";
import { Field, Input } from "@/ui/Field";

const ASKED: readonly { key: keyof Introduction; label: string; hint?: string }[] = [
  { key: "user", label: "Your name" },
  { key: "name", label: "The companion's name" },
  { key: "time_zone", label: "Your time zone", hint: "Or its city, such as Lisbon." },
  { key: "manner", label: "How it should talk", hint: "Such as: warm and brief, in German." },
];

interface IntroduceProps {
  companion: string;
  said: Introduction;
  onSay: (said: Introduction) => void;
  onDone: () => void;
}

/** Before anything is said: where one is, as the browser knows it. */
export const here = (): Introduction => ({ time_zone: timeZone() });

/** What the first conversation asks for, as in a terminal; each answer may be left out. It opens again later. */
export function Introduce({ companion, said, onSay, onDone }: IntroduceProps) {
  const change = useChange();
  return (
    <form
      aria-label="Introduce yourself"
      className="mx-auto my-4 max-w-xl rounded-xl border bg-surface p-4 shadow-card"
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate(introduce(companion, said), onDone);
      }}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        {ASKED.map(({ key, label, hint }) => (
          <Field key={key} label={label} hint={hint}>
            <Input
              value={said[key] ?? ""}
              onChange={(event) => onSay({ ...said, [key]: event.target.value })}
            />
          </Field>
        ))}
      </div>
      <p className="mt-4 flex items-center justify-between gap-3 text-sm text-ink-3">
        All fields are optional.
        <Button kind="primary" type="submit" busy={change.isPending}>
          Keep
        </Button>
      </p>
    </form>
  );
}
