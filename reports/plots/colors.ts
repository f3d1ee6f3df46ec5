/** One colour per agent in every chart of every page, chosen by name as far as colours last. */

/**
 * Distinguishable with colour vision deficiencies and in print (the last five by most readers). @source Okabe and Ito,
 * Color Universal Design
 */
export const palette = [
  '#0072b2',
  '#d55e00',
  '#009e73',
  '#cc79a7',
  '#e69f00',
  '#56b4e9',
  '#8a5a2b',
  '#5b4bb5',
  '#c1272d',
  '#8c8c1f',
  '#882255',
  '#0f6b6b',
] as const;

/** Greys of baselines: agents that no run trained and that ask no model. */
export const greys = ['#9aa6b0', '#6c7883', '#c3b8a8'] as const;

/** Dark mode: the same hues, bright enough for a dark page; greys stay in the background. */
export const brighter: Readonly<Record<string, string>> = {
  '#0072b2': '#4aa8e6',
  '#d55e00': '#f28444',
  '#009e73': '#35c598',
  '#cc79a7': '#e59bc6',
  '#e69f00': '#f2b83d',
  '#56b4e9': '#9ad7fa',
  '#8a5a2b': '#c89b6a',
  '#5b4bb5': '#a79cf2',
  '#c1272d': '#f2777b',
  '#8c8c1f': '#cfcf5e',
  '#882255': '#d977a8',
  '#0f6b6b': '#5fbdbd',
  '#9aa6b0': '#76828c',
  '#6c7883': '#a3aeb7',
  '#c3b8a8': '#8a8071',
};

/** Palette indices reserved for names; other names use a hash. */
const wanted: Readonly<Record<string, number>> = {
  PPO: 0,
  REINFORCE: 1,
  fiske: 2,
  tog: 3,
  'self-veqa': 4,
  clone: 5,
  io: 6,
  cot: 7,
};

/** An agent of a page. */
export interface Shown {
  /** Label in charts: `PPO`, `tog`, `clone (last)`; text in brackets does not affect the colour. */
  name: string;
  /** True for agents trained by a run or using a language model; all others are grey. */
  vivid: boolean;
}

/**
 * Assigns a colour to each name: its reserved one everywhere; on a collision the first keeps it and the other takes the
 * next free one. Colours repeat beyond twelve.
 * @param used colours already taken
 */
export function agentColors(agents: readonly Shown[], used: ReadonlySet<string> = new Set()): Map<string, string> {
  const colors = new Map<string, string>();
  for (const isVivid of [true, false]) {
    const from: readonly string[] = isVivid ? palette : greys;
    const some = agents.filter(({ name, vivid }) => vivid === isVivid && !colors.has(name));
    // Names with a reserved colour choose first.
    const inOrder = [...some].sort(
      (a, b) => Number(ownPlace(a.name) === undefined) - Number(ownPlace(b.name) === undefined),
    );
    const taken = new Set(from.filter((color) => used.has(color)));
    for (const { name } of inOrder) {
      if (colors.has(name)) continue;
      if (taken.size === from.length) taken.clear();
      let index = (isVivid ? ownPlace(name) : undefined) ?? hashOf(name);
      while (taken.has(from[index % from.length]!)) index++;
      taken.add(from[index % from.length]!);
      colors.set(name, from[index % from.length]!);
    }
  }
  return colors;
}

function ownPlace(name: string): number | undefined {
  const [plain = ''] = name.split(/,| \(/);
  return Object.hasOwn(wanted, plain) ? wanted[plain] : undefined;
}

/** FNV-1a hash of UTF-16 units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}
