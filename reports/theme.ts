/** The colours of charts, by day and by night. */

/** Told apart by readers who see colours differently, and in print; the last two by most. @source Okabe and Ito, Color Universal Design */
export const palette = [
  '#0072b2',
  '#d55e00',
  '#009e73',
  '#cc79a7',
  '#e69f00',
  '#56b4e9',
  '#555555',
  '#8a5a2b',
  '#5b4bb5',
] as const;

/** Colours of one time of day. */
export interface Theme {
  name: 'light' | 'dark';
  paper: string;
  ink: string;
  quiet: string;
  grid: string;
  /** Bars of baselines. */
  baseline: string;
  /** What a colour of the palette, with or without two digits of opacity, becomes. */
  shade: (color: string) => string;
}

/** By day. */
export const light: Theme = {
  name: 'light',
  paper: '#ffffff',
  ink: '#1f2933',
  quiet: '#66727d',
  grid: '#e9edf0',
  baseline: '#b3bcc4',
  shade: (color) => color,
};

/** The palette again, bright enough for a dark page. */
const brighter: Readonly<Record<string, string>> = {
  '#0072b2': '#4aa8e6',
  '#d55e00': '#f28444',
  '#009e73': '#35c598',
  '#cc79a7': '#e59bc6',
  '#e69f00': '#f2b83d',
  '#56b4e9': '#9ad7fa',
  '#555555': '#aab4bb',
  '#8a5a2b': '#c89b6a',
  '#5b4bb5': '#a79cf2',
};

/** By night. */
export const dark: Theme = {
  name: 'dark',
  paper: '#15191c',
  ink: '#e3e8eb',
  quiet: '#9aa6af',
  grid: '#2a3137',
  baseline: '#59656e',
  shade: (color) => (brighter[color.slice(0, 7)] ?? color.slice(0, 7)) + color.slice(7),
};

/** Colour and stroke of the n-th thing that a report tells apart. */
export function strokeOf(index: number): { color: string; dashed: boolean } {
  return { color: palette[index % palette.length]!, dashed: index >= palette.length };
}
