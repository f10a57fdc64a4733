import { useQuery } from "@tanstack/react-query";
import { Figures } from "@/pages/overview/Figures";
import { statistics } from "@/pages/overview/queries";
import { Page } from "@/ui/Page";

export default function Overview() {
  const { data: stats } = useQuery(statistics);
  return (
    <Page
      title="Overview"
      lead="What your agents know, how sure they are of it, and what is fading."
    >
      <Figures stats={stats} />
    </Page>
  );
}
