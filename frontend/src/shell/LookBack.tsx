import { useNavigate } from "@tanstack/react-router";
import { History } from "lucide-react";
import { dayOf } from "@/shell/days";
import { usePastDays } from "@/shell/past";
import { Button } from "@/ui/Button";

// Where the slider stands at first.
const DAYS_BACK = 7;

/** The way into the past, on the pages that can show it; what leads back is in the banner. */
export function LookBack() {
  const navigate = useNavigate();
  if (usePastDays()) return null;
  const look = () => {
    const then = new Date();
    then.setDate(then.getDate() - DAYS_BACK);
    void navigate({
      to: ".",
      search: (now) => ({ ...now, known_at: dayOf(then) }),
      resetScroll: false,
    });
  };
  return (
    <Button onClick={look}>
      <History /> Look back
    </Button>
  );
}
