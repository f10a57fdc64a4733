import { queryOptions, useQuery } from "@tanstack/react-query";
import { asked } from "@/api/client";
import { Select } from "@/ui/Field";

export const butlerList = queryOptions({
  ...asked(["butlers"], "/api/butlers"),
  select: ({ butlers }) => butlers,
});

interface ButlerSelectProps {
  value: string | undefined;
  onChange: (butler: string | undefined) => void;
}

/** One of the butlers that memory knows; one that it does not know but the address names, too. */
export function ButlerSelect({ value, onChange }: ButlerSelectProps) {
  const { data: butlers = [] } = useQuery(butlerList);
  const names = butlers.map((one) => one.name);
  const offered = value && !names.includes(value) ? [...names, value] : names;
  return (
    <Select
      label="Butler"
      any="Any butler"
      value={value}
      onChange={onChange}
      options={offered.map((name) => ({ value: name, label: name }))}
    />
  );
}
