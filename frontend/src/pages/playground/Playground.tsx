import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Telescope } from "lucide-react";
import { useState } from "react";
import { BlockText } from "@/pages/playground/BlockText";
import { block, butlers } from "@/pages/playground/queries";
import type { PlaygroundSearch } from "@/pages/playground/route";
import { WeighedList } from "@/pages/playground/WeighedList";
import { Without } from "@/pages/playground/Without";
import { EmptyState } from "@/ui/EmptyState";
import { SearchBox, Select } from "@/ui/Field";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";

const route = getRouteApi("/memory/recall");

// Small ones show what falls out first.
const BUDGETS = ["100", "250", "500", "1000", "3000", "8000"].map((value) => ({
  value,
  label: `${value} tokens`,
}));

export default function Playground() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  // Another prompt makes another block, which the memory may not be in.
  const change = (part: Partial<PlaygroundSearch>) =>
    void navigate({
      search: (now) => ({ ...now, without: undefined, ...part }),
      replace: true,
      resetScroll: false,
    });
  const { data: household } = useQuery(butlers);
  return (
    <Page
      title="Recall playground"
      lead="Type a prompt and see the memory block that a session would get for it, why each line is there, and what just missed it."
    >
      <div className="mb-5 flex flex-wrap gap-2" role="search">
        <SearchBox
          label="Prompt"
          placeholder="What would you ask an agent?"
          value={search.prompt ?? ""}
          onChange={(prompt) => change({ prompt: prompt || undefined })}
          className="min-w-64 flex-1"
          slash
        />
        <Select
          label="Butler"
          any="Global memories only"
          value={search.butler}
          onChange={(butler) => change({ butler })}
          options={(household?.butlers ?? []).map(({ name }) => ({ value: name, label: name }))}
        />
        <Select
          label="Budget"
          any="Configured budget"
          value={search.budget?.toString()}
          onChange={(budget) => change({ budget: budget ? Number(budget) : undefined })}
          options={BUDGETS}
        />
      </div>
      {search.prompt ? (
        <Recalled search={search} onWithout={(without) => change({ without })} />
      ) : (
        <Explained onTry={change} />
      )}
    </Page>
  );
}

interface RecalledProps {
  search: PlaygroundSearch;
  onWithout: (id: string | undefined) => void;
}

function Recalled({ search, onWithout }: RecalledProps) {
  const { data } = useQuery(block(search));
  // The memory that is pointed at, in the block or in the list beside it.
  const [pointed, point] = useState<string>();
  if (!data) return <SkeletonRows rows={8} className="h-12" />;
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <div className="min-w-0 space-y-4">
        {search.without && (
          <Without search={search} id={search.without} onClose={() => onWithout(undefined)} />
        )}
        <BlockText block={data} pointed={pointed} onPoint={point} />
      </div>
      <WeighedList block={data} pointed={pointed} onPoint={point} onWithout={onWithout} />
    </div>
  );
}

function Explained({ onTry }: { onTry: (part: Partial<PlaygroundSearch>) => void }) {
  const prompt = "Plan a dinner for the family";
  return (
    <EmptyState icon={Telescope} title="What would an agent be told?">
      Before a session begins, memory is asked for what matters for its prompt. Nothing is changed
      by trying it here: no reference is counted. Try{" "}
      <button
        type="button"
        className="font-medium text-accent-ink hover:underline"
        onClick={() => onTry({ prompt })}
      >
        {prompt}
      </button>
    </EmptyState>
  );
}
