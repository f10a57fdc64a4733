import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { NotebookPen } from "lucide-react";
import { Fragments } from "@/pages/journal/Fragments";
import { Learned } from "@/pages/journal/Learned";
import { Maintenance } from "@/pages/journal/Maintenance";
import { Mind } from "@/pages/journal/Mind";
import { Prompt } from "@/pages/journal/Prompt";
import { companionOption, companions } from "@/pages/journal/queries";
import type { JournalSearch, JournalTab } from "@/pages/journal/route";
import { Stream } from "@/pages/journal/Stream";
import { LookBack } from "@/shell/LookBack";
import { usePastDays } from "@/shell/past";
import { buttonClass } from "@/ui/Button";
import { Code, EmptyState } from "@/ui/EmptyState";
import { Select } from "@/ui/Field";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";
import { Tabs } from "@/ui/Tabs";

const route = getRouteApi("/journal");

const TABS: readonly { name: JournalTab; label: string }[] = [
  { name: "stream", label: "Stream" },
  { name: "mind", label: "On its mind" },
  { name: "fragments", label: "Fragments" },
  { name: "learned", label: "What it learned" },
  { name: "prompt", label: "Next prompt" },
  { name: "maintenance", label: "Maintenance" },
];

// These change the journal of today.
const CHANGING: ReadonlySet<JournalTab> = new Set(["learned", "maintenance"]);

export default function Journal() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (part: Partial<JournalSearch>) =>
    void navigate({
      search: (now) => ({ ...now, ...part }),
      // What is typed is one step for Back, however often one pauses.
      replace: "actor" in part || "tag" in part,
      resetScroll: false,
    });
  const { data: known } = useQuery(companions);
  const first = known?.find(({ problem }) => !problem) ?? known?.[0];
  const companion = search.companion ?? first?.name;
  const isPast = usePastDays() !== undefined;
  // Maintenance is for changing; what runs changed is seen in the fragments.
  const tabs = isPast ? TABS.filter(({ name }) => !CHANGING.has(name)) : TABS;
  const tab = tabs.find(({ name }) => name === search.tab)?.name ?? "stream";
  return (
    <Page
      title="Journal"
      lead="One long conversation: what was said, what is on the companion's mind, what it has come to know, and the prompt it wakes up to."
      actions={
        <>
          {known && known.length > 1 && (
            <Select
              label="Companion"
              any={first?.name ?? ""}
              value={search.companion}
              onChange={(name) => change({ companion: name, fragment: undefined })}
              options={known.filter((one) => one !== first).map(companionOption)}
            />
          )}
          <LookBack />
        </>
      }
    >
      {!known ? (
        <SkeletonRows rows={8} className="h-14" />
      ) : companion === undefined ? (
        <EmptyState
          icon={NotebookPen}
          title="No companion keeps a journal here yet"
          action={
            <Link to="/chat" className={buttonClass("primary")}>
              Begin a conversation
            </Link>
          }
        >
          A journal begins with the first message: here, or with{" "}
          <Code>memory-butler journal chat</Code>. Bring an old conversation with{" "}
          <Code>memory-butler journal import FILE</Code>
        </EmptyState>
      ) : (
        <Tabs
          label="Of this journal"
          value={tab}
          tabs={tabs}
          onChange={(name) => change({ tab: name === "stream" ? undefined : name })}
        >
          <Tab tab={tab} companion={companion} search={search} onChange={change} />
        </Tabs>
      )}
    </Page>
  );
}

interface TabProps {
  tab: JournalTab;
  companion: string;
  search: JournalSearch;
  onChange: (part: Partial<JournalSearch>) => void;
}

function Tab({ tab, companion, search, onChange }: TabProps) {
  switch (tab) {
    case "stream":
      return <Stream companion={companion} search={search} onChange={onChange} />;
    case "mind":
      return <Mind companion={companion} />;
    case "fragments":
      return (
        <Fragments
          companion={companion}
          chosen={search.fragment}
          onChoose={(fragment) => onChange({ fragment })}
        />
      );
    case "learned":
      return <Learned companion={companion} />;
    case "prompt":
      return <Prompt companion={companion} />;
    case "maintenance":
      return <Maintenance companion={companion} />;
  }
}
