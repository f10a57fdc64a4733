import { ChevronLeft, ChevronRight } from "lucide-react";
import { Button } from "@/ui/Button";
import { count } from "@/ui/format";

interface PagerProps {
  /** Rows before this page. */
  offset: number;
  limit: number;
  total: number;
  onChange: (offset: number) => void;
}

export function Pager({ offset, limit, total, onChange }: PagerProps) {
  if (total <= limit && offset === 0) return null;
  const last = Math.min(offset + limit, total);
  return (
    <nav aria-label="Pages" className="flex items-center justify-between gap-3 py-3">
      <p className="text-sm text-ink-2 tabular-nums">
        {count(offset + 1)}–{count(last)} of {count(total)}
      </p>
      <div className="flex gap-2">
        <Button small disabled={offset === 0} onClick={() => onChange(Math.max(0, offset - limit))}>
          <ChevronLeft /> Newer
        </Button>
        <Button small disabled={last >= total} onClick={() => onChange(offset + limit)}>
          Older <ChevronRight />
        </Button>
      </div>
    </nav>
  );
}
