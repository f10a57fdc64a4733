import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import type { Schemas } from "@/api/client";
import { blockWithout } from "@/pages/playground/queries";
import type { PlaygroundSearch } from "@/pages/playground/route";
import { IconButton } from "@/ui/Button";
import { Card } from "@/ui/Card";
import { SkeletonRows } from "@/ui/Skeleton";

interface WithoutProps {
  search: PlaygroundSearch;
  id: string;
  onClose: () => void;
}

/** What would change in the block if a memory were gone: the lines that leave, and what comes in. */
export function Without({ search, id, onClose }: WithoutProps) {
  const { data } = useQuery(blockWithout(search, id));
  return (
    <Card
      title="If this memory were gone"
      note="The search is made again without it; nothing is forgotten"
      aside={
        <IconButton label="Close the comparison" className="-my-2" onClick={onClose}>
          <X />
        </IconButton>
      }
    >
      {!data ? (
        <SkeletonRows rows={2} />
      ) : data.left.length === 0 && data.came.length === 0 ? (
        <p className="text-ink-2">Nothing changes: it is not a line of this block.</p>
      ) : (
        <>
          <div className="-mx-2 font-mono text-xs leading-5">
            {data.left.map((one) => (
              <p key={one.id} className="memory-text rounded bg-bad-soft px-2 text-bad-ink">
                <del>{said(one)}</del>
              </p>
            ))}
            {data.came.map((one) => (
              <p key={one.id} className="memory-text mt-1 rounded bg-good-soft px-2 text-good-ink">
                <ins>{said(one)}</ins>
              </p>
            ))}
          </div>
          {data.came.length === 0 && (
            <p className="mt-3 text-sm text-ink-2">Nothing comes in for it.</p>
          )}
        </>
      )}
    </Card>
  );
}

function said(line: Schemas["BlockLine"]): string {
  return line.text.replace(/^- /, "");
}
