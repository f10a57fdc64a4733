import { Monitor, Moon, Sun } from "lucide-react";
import { setTheme, useTheme, type Theme } from "@/shell/theme";
import { IconButton } from "@/ui/Button";

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const ICON = { system: Monitor, light: Sun, dark: Moon };
const NAME = { system: "as the system", light: "light", dark: "dark" };

/** Goes through the three themes. */
export function ThemeToggle() {
  const theme = useTheme();
  const Icon = ICON[theme];
  return (
    <IconButton
      title={`Theme: ${NAME[theme]}`}
      label={`Theme: ${NAME[theme]}. Change to: ${NAME[NEXT[theme]]}`}
      onClick={() => setTheme(NEXT[theme])}
    >
      <Icon />
    </IconButton>
  );
}
