import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ReceiptText } from "lucide-react";
import { ButlerSelect } from "@/memory/ButlerSelect";
import { Receipt } from "@/pages/contexts/Receipt";
import { receipts, SHOWN, type ListedReceipt } from "@/pages/contexts/queries";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Code, EmptyState } from "@/ui/EmptyState";
import { plural } from "@/ui/format";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";

const route = getRouteApi("/memory/contexts");

/** What sessions were told, and why. */
export default function Contexts() {
  const { receipt } = route.useSearch();
  return (
    <Page
      title="Contexts"
      lead="The memory blocks that sessions were given: why each line was there, what just missed it, and the proof of what was said."
    >
      {receipt ? <Receipt key={receipt} id={receipt} /> : <List />}
    </Page>
  );
}

function List() {
  const { butler } = route.useSearch();
  const navigate = route.useNavigate();
  const { data } = useQuery(receipts(butler));
  const filter = (butler: string | undefined) =>
    void navigate({ search: (now) => ({ ...now, butler }), replace: true, resetScroll: false });
  const found = data?.receipts;
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <ButlerSelect value={butler} onChange={filter} />
        <p className="text-sm text-ink-3" role="status">
          {found &&
            (found.length < SHOWN ? plural(found.length, "context") : `The newest ${SHOWN}`)}
        </p>
      </div>
      {!found ? (
        <SkeletonRows rows={8} className="h-14" />
      ) : found.length === 0 ? (
        <Nothing butler={butler} onClear={() => filter(undefined)} />
      ) : (
        <ul className="divide-y overflow-hidden rounded-xl border bg-surface shadow-card">
          {found.map((one) => (
            <Line key={one.id} receipt={one} />
          ))}
        </ul>
      )}
    </>
  );
}

function Line({ receipt }: { receipt: ListedReceipt }) {
  return (
    <li className="relative flex flex-wrap items-center gap-x-4 gap-y-1 px-5 py-3.5 hover:bg-sunken">
      <Badge tone="accent">{receipt.butler}</Badge>
      <Link
        to="/memory/contexts"
        search={(now) => ({ ...now, receipt: receipt.id })}
        className="min-w-0 flex-1 basis-64 font-medium after:absolute after:inset-0"
      >
        {receipt.prompt !== null && (
          <span className="memory-text line-clamp-2">{receipt.prompt}</span>
        )}
        <span className={receipt.prompt === null ? "" : "block text-xs font-normal text-ink-3"}>
          {plural(receipt.items, "memory", "memories")} weighed
        </span>
      </Link>
      <code className="font-mono text-xs text-ink-3 max-sm:hidden">{receipt.id.slice(0, 8)}</code>
      <span className="text-xs text-ink-3">
        <TimeAgo at={receipt.created_at} />
      </span>
    </li>
  );
}

function Nothing({ butler, onClear }: { butler: string | undefined; onClear: () => void }) {
  return butler ? (
    <EmptyState
      icon={ReceiptText}
      title={`No context of ${butler}`}
      action={<Button onClick={onClear}>Show those of all butlers</Button>}
    >
      Receipts of contexts are kept for some weeks.
    </EmptyState>
  ) : (
    <EmptyState icon={ReceiptText} title="No recent context">
      When a session begins, memory is asked for a block of what matters for it. Each leaves a
      receipt here. Try <Code>memory-butler context &quot;Plan my week&quot; home</Code>
    </EmptyState>
  );
}
