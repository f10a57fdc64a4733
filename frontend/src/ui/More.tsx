import { useEffect, useRef } from "react";
import { Button } from "@/ui/Button";

interface MoreProps {
  /** The result of an infinite query. */
  pages: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}

/** The end of a long list: asks for more when it comes into sight, or when it is pressed. */
export function More({ pages: { hasNextPage, isFetchingNextPage, fetchNextPage } }: MoreProps) {
  const button = useRef<HTMLDivElement>(null);
  const isWaiting = hasNextPage && !isFetchingNextPage;
  useEffect(() => {
    const node = button.current;
    if (!node || !isWaiting) return;
    const watcher = new IntersectionObserver(([seen]) => {
      if (seen?.isIntersecting) fetchNextPage();
    });
    watcher.observe(node);
    return () => watcher.disconnect();
  }, [isWaiting, fetchNextPage]);
  if (!hasNextPage) return null;
  return (
    <div ref={button} className="flex justify-center py-4">
      <Button small kind="quiet" busy={isFetchingNextPage} onClick={() => fetchNextPage()}>
        Show more
      </Button>
    </div>
  );
}
