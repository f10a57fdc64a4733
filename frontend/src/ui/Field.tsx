import clsx from "clsx";
import { Search, X } from "lucide-react";
import {
  createContext,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
  type ComponentProps,
  type ReactNode,
} from "react";
import { shortened, words } from "@/ui/format";

const BOX =
  "h-8 rounded-md border border-line-strong bg-surface px-2.5 text-base text-ink placeholder:text-ink-3 disabled:opacity-60";

interface FieldProps {
  label: string;
  hint?: ReactNode;
  /** What is wrong with the value. */
  error?: string | undefined;
  children: ReactNode;
}

// What a control takes from the field around it: the label's target, and what describes it.
const Ids = createContext<{ id?: string; "aria-describedby"?: string }>({});

/** A label above a control, a hint or an error below it. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const note = `${id}-note`;
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      <Ids value={{ id, ...((error || hint) && { "aria-describedby": note }) }}>{children}</Ids>
      {error ? (
        <span id={note} role="alert" className="text-sm text-bad-ink">
          {error}
        </span>
      ) : (
        hint && (
          <span id={note} className="text-sm text-ink-3">
            {hint}
          </span>
        )
      )}
    </div>
  );
}

export function Input({ className, ...rest }: ComponentProps<"input">) {
  return <input {...useContext(Ids)} {...rest} className={clsx(BOX, className)} />;
}

/** Enter begins a line; with Ctrl or Cmd it sends the form. */
export function TextArea({ className, ...rest }: ComponentProps<"textarea">) {
  return (
    <textarea
      {...useContext(Ids)}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        // By its button, which is disabled where there is nothing to send, or it is being sent.
        for (const one of event.currentTarget.form?.elements ?? [])
          if (one instanceof HTMLButtonElement && one.type === "submit") one.click();
      }}
      {...rest}
      className={clsx(BOX, "h-auto min-h-24 py-2 leading-6", className)}
    />
  );
}

interface SelectProps<Value extends string> {
  label: string;
  value: Value | undefined;
  onChange: (value: Value | undefined) => void;
  options: readonly { value: Value; label: string }[];
  /** What no choice means, such as "Any permanence"; left out where one must be chosen. */
  any?: string;
}

/** One choice: the browser's own control, which every keyboard and phone knows. */
export function Select<Value extends string>({
  label,
  value,
  onChange,
  options,
  any,
}: SelectProps<Value>) {
  const field = useContext(Ids);
  return (
    <select
      {...field}
      aria-label={label}
      value={value ?? ""}
      onChange={(event) => onChange((event.target.value || undefined) as Value | undefined)}
      className={clsx(
        BOX,
        "min-w-0 pr-7",
        // Among filters it is narrow; in a form as wide as its column, for its labels to be read.
        !field.id && "md:max-w-52",
        any && value && "border-accent bg-accent-soft text-accent-ink",
      )}
    >
      {any && <option value="">{any}</option>}
      {options.map((one) => (
        <option key={one.value} value={one.value}>
          {one.label}
        </option>
      ))}
    </select>
  );
}

interface SelectBoxProps {
  /** What the row is about; a long text is cut. */
  label: string;
  checked: boolean;
  onChange: () => void;
}

/** Chooses a row of a list; what is around it takes the click as well. */
export function SelectBox({ label, checked, onChange }: SelectBoxProps) {
  return (
    <label className="-m-2 flex cursor-pointer p-2">
      <input
        type="checkbox"
        aria-label={`Select: ${shortened(label)}`}
        checked={checked}
        onChange={onChange}
        className="size-4 cursor-pointer accent-accent"
      />
    </label>
  );
}

interface DayBoxProps {
  label: string;
  /** As "2026-03-14". */
  value: string | undefined;
  onChange: (day: string | undefined) => void;
}

/** A filter of one day: the browser's own calendar. */
export function DayBox({ label, value, onChange }: DayBoxProps) {
  return (
    <label className="flex items-center gap-1.5 text-sm text-ink-2">
      {label}
      <input
        type="date"
        value={value ?? ""}
        onChange={(event) => onChange(event.target.value || undefined)}
        className={clsx(BOX, "min-w-0", value && "border-accent bg-accent-soft text-accent-ink")}
      />
    </label>
  );
}

interface SearchBoxProps {
  label: string;
  value: string;
  /** Told when the typing pauses. */
  onChange: (value: string) => void;
  placeholder?: string;
  className?: string;
  /** Takes the focus when "/" is pressed. */
  slash?: boolean;
}

// Longer than between two keystrokes, shorter than one waits gladly.
const PAUSE_MILLISECONDS = 250;

/** Typed words, handed on when the typing pauses. */
export function SearchBox({
  label,
  value,
  onChange,
  placeholder,
  className,
  slash,
}: SearchBoxProps) {
  const [typed, setTyped] = useState(value);
  const handed = useRef(value);
  const tell = useRef(onChange);
  tell.current = onChange;

  useEffect(() => {
    // The value changed elsewhere: Back was pressed, or the filters were cleared.
    if (value !== handed.current) {
      handed.current = value;
      setTyped(value);
    }
  }, [value]);
  useEffect(() => {
    if (typed === handed.current) return;
    const waiting = window.setTimeout(() => {
      handed.current = typed;
      tell.current(typed);
    }, PAUSE_MILLISECONDS);
    return () => window.clearTimeout(waiting);
  }, [typed]);

  return (
    <div className={clsx("relative", className)}>
      <Search
        className="pointer-events-none absolute top-2 left-2.5 size-4 text-ink-3"
        aria-hidden
      />
      <input
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={typed}
        data-slash={slash || undefined}
        onChange={(event) => setTyped(event.target.value)}
        className={clsx(
          BOX,
          "w-full pl-8",
          typed && "pr-8",
          "[&::-webkit-search-cancel-button]:hidden",
        )}
      />
      {typed && (
        <button
          type="button"
          aria-label="Clear the search"
          onClick={() => setTyped("")}
          className="absolute top-1.5 right-1.5 rounded p-0.5 text-ink-3 hover:text-ink"
        >
          <X className="size-4" />
        </button>
      )}
    </div>
  );
}

/** The options of a Select, of names as the API has them. */
export function choices<Value extends string>(names: readonly Value[]) {
  return names.map((value) => ({ value, label: words(value) }));
}
