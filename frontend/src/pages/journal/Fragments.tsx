import { useQuery } from "@tanstack/react-query";
import { Network } from "lucide-react";
import { useMemo, useState } from "react";
import { FragmentDetail } from "@/pages/journal/FragmentDetail";
import { FragmentGraph } from "@/pages/journal/FragmentGraph";
import { fragments } from "@/pages/journal/queries";
import { usePast } from "@/shell/past";
import { Card } from "@/ui/Card";
import { Code, EmptyState } from "@/ui/EmptyState";
import { SearchBox } from "@/ui/Field";
import { plural } from "@/ui/format";
import { Skeleton } from "@/ui/Skeleton";

// More than this many are a cloud in which nothing can be read.
const DRAWN = 120;

interface FragmentsProps {
  companion: string;
  chosen: string | undefined;
  onChoose: (key: string | undefined) => void;
}

/** What the companion has come to know: fragments, and what leads from one to another. */
export function Fragments({ companion, chosen, onChoose }: FragmentsProps) {
  const { data } = useQuery(fragments(companion, usePast()));
  const [words, setWords] = useState("");
  const shown = useMemo(() => {
    if (!data) return undefined;
    const wanted = words.trim().toLowerCase();
    const fitting = data.nodes.filter(
      ({ key, ambient }) =>
        key.toLowerCase().includes(wanted) || ambient?.toLowerCase().includes(wanted),
    );
    const degree = new Map<string, number>();
    for (const edge of data.edges)
      for (const key of [edge.source, edge.target]) degree.set(key, (degree.get(key) ?? 0) + 1);
    return fitting
      .toSorted((a, b) => (degree.get(b.key) ?? 0) - (degree.get(a.key) ?? 0))
      .slice(0, DRAWN);
  }, [data, words]);
  if (!data || !shown) return <Skeleton className="h-96" />;
  if (data.nodes.length === 0)
    return (
      <EmptyState icon={Network} title="Nothing was compiled yet">
        Maintenance reads what was said and keeps what is worth knowing as fragments, linked to each
        other. Try <Code>memory-butler journal maintain bootstrap --dry-run</Code>
      </EmptyState>
    );
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,1fr)_24rem]">
      <Card
        title="Fragments"
        note={
          shown.length < data.nodes.length
            ? `${plural(shown.length, "fragment")} of ${data.nodes.length}, the most linked ones`
            : plural(data.nodes.length, "fragment")
        }
        aside={
          <SearchBox
            label="Search the fragments"
            placeholder="Words of a fragment"
            value={words}
            onChange={setWords}
            className="w-48"
            slash
          />
        }
      >
        <FragmentGraph nodes={shown} edges={data.edges} chosen={chosen} onChoose={onChoose} />
      </Card>
      {chosen === undefined ? (
        <p className="px-2 py-4 text-ink-2">Choose a fragment to see all that it says.</p>
      ) : (
        <FragmentDetail companion={companion} name={chosen} onChoose={onChoose} />
      )}
    </div>
  );
}
