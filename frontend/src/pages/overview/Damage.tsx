import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { companions } from "@/pages/journal/queries";
import { databaseTrouble } from "@/pages/overview/queries";
import { CopyButton } from "@/ui/CopyButton";
import { Code } from "@/ui/EmptyState";

const DOCTOR = "memory-butler doctor --deep";

/** Says what is damaged, in the database or a journal, and what to type; else nothing. */
export function Damage() {
  // An overview that cannot look for damage shows the rest.
  const { data: database } = useQuery({ ...databaseTrouble, throwOnError: false });
  const { data: known } = useQuery({ ...companions, throwOnError: false });
  const journals = known?.filter(({ problem }) => problem) ?? [];
  if (!database && journals.length === 0) return null;
  return (
    <div
      role="note"
      className="flex items-start gap-2.5 rounded-lg bg-bad-soft px-4 py-3 text-bad-ink"
    >
      <TriangleAlert className="mt-1 size-4 shrink-0" aria-hidden />
      <div className="min-w-0">
        <p className="font-semibold">Something is wrong with what is stored</p>
        <ul className="mt-1 list-disc pl-5 break-words">
          {database && <li>Database: {database}</li>}
          {journals.map(({ name, problem }) => (
            <li key={name}>
              Journal of {name}: {problem}
            </li>
          ))}
        </ul>
        <p className="mt-1.5 flex flex-wrap items-center gap-x-2">
          For what to do, type <Code>{DOCTOR}</Code> <CopyButton text={DOCTOR} what={DOCTOR} />
        </p>
      </div>
    </div>
  );
}
