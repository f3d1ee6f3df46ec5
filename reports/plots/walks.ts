/** Walks drawn on the graph as SVG: the chosen walk, the rest of the beam, and the gold walk, as one tree of edges. */
import { printable } from '../../src/run/printable.js';
import { readRelation } from '../format.js';
import { escapeText } from '../html.js';

/** A hop in names: head, relation, tail. */
export type Hop = readonly [head: string, relation: string, tail: string];

export interface RankedWalk {
  walk: readonly Hop[];
  /** Its probability, a fraction; absent if the agent gives none. */
  share?: number | undefined;
  /** True if it ends on a gold answer; used without a gold walk. */
  right?: boolean;
}

interface WalkDrawing {
  /** Best first: the first is the chosen walk. */
  walks: readonly RankedWalk[];
  gold?: readonly Hop[] | undefined;
  /** Entity shown for empty walks. */
  start?: string;
}

interface Node {
  relation: string;
  inverse: boolean;
  entity: string;
  depth: number;
  children: Map<string, Node>;
  /** Sum of the probabilities of the walks through this edge. */
  share: number;
  isTaken: boolean;
  isGold: boolean;
  isRight: boolean;
  ends?: number;
}

/** CSS pixels used to measure text; the drawing scales down on narrow pages. */
const width = 360;
const rowHeight = 26;
const indent = 26;
const letter = 6.3;

/**
 * Draws one row per node, so that names never overlap; walks share their common prefix. Stroke width is the
 * probability; the chosen walk is solid, gold is green, chosen but not gold is red, the rest is grey.
 * @returns SVG with the classes of `style.ts`; names are escaped, and cut if long. Empty without an edge
 */
export function walkSvg({ walks, gold = [], start = '' }: WalkDrawing): string {
  const roots = new Map<string, Node>();
  const rooted = (name: string) => child(roots, { entity: name, relation: '', inverse: false, depth: 0 });
  const hasGold = gold.length > 0;
  const follow = (hops: readonly Hop[], mark: (node: Node) => void) => {
    let node = rooted(hops[0]?.[0] ?? start);
    mark(node);
    for (const [, name, entity] of hops) {
      node = child(node.children, { ...readRelation(name), entity, depth: node.depth + 1 });
      mark(node);
    }
    return node;
  };
  walks.forEach(({ walk, share = 0, right = false }, index) => {
    if (walk.length === 0) return;
    const end = follow(walk, (node) => {
      node.share += share;
      node.isTaken ||= index === 0;
    });
    end.isRight ||= right && !hasGold;
    if (share > 0) end.ends = (end.ends ?? 0) + share;
  });
  follow(gold, (node) => (node.isGold ||= hasGold));
  const trees = [...roots.values()].filter(({ children }) => children.size > 0);
  const rows = rowsOf(trees);
  if (rows.length === 0) return '';
  const most = Math.max(...rows.map(({ node }) => (node.depth > 0 ? node.share : 0)));
  const height = rows.length * rowHeight + 4;
  const edges = rows.flatMap(({ node, parent, y, from }) => (parent ? [edge(node, from, y, most, hasGold)] : []));
  const names = rows.map(({ node, y }) => name(node, y, hasGold));
  const said =
    walks[0] && walks[0].walk.length > 0
      ? `Walks drawn as a tree; taken: ${textOf(walks[0].walk)}`
      : 'Walks drawn as a tree';
  // Edges of the chosen walk are drawn on top.
  edges.sort((a, b) => a.rank - b.rank);
  return `<svg class="walks-drawn" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeText(said)}">${edges.map(({ svg }) => svg).join('')}${names.join('')}</svg>`;
}

function child(among: Map<string, Node>, one: Pick<Node, 'relation' | 'inverse' | 'entity' | 'depth'>): Node {
  const key = JSON.stringify([one.relation, one.inverse, one.entity]);
  const fresh = { ...one, children: new Map(), share: 0, isTaken: false, isGold: false, isRight: false };
  if (!among.has(key)) among.set(key, fresh);
  return among.get(key)!;
}

interface Row {
  node: Node;
  parent: Node | undefined;
  /** Vertical centre of the row, and of its parent's. */
  y: number;
  from: number;
}

/** Depth first: the chosen walk before gold before likelier ones. */
function rowsOf(roots: readonly Node[]): Row[] {
  const rows: Row[] = [];
  const visit = (node: Node, parent: Node | undefined, from: number) => {
    const y = rowHeight / 2 + 2 + rows.length * rowHeight;
    rows.push({ node, y, from, parent });
    const rank = ({ isTaken, isGold, share }: Node) => (isTaken ? 4 : 0) + (isGold ? 2 : 0) + share;
    for (const next of [...node.children.values()].sort((a, b) => rank(b) - rank(a))) visit(next, node, y);
  };
  for (const root of roots) visit(root, undefined, 0);
  return rows;
}

const kindOf = ({ isTaken, isGold, isRight }: Node, hasGold: boolean) =>
  isGold || isRight ? (isTaken ? 'taken gold' : 'gold') : isTaken ? (hasGold ? 'taken wrong' : 'taken') : 'left';

const placeOf = (depth: number) => 10 + indent * depth;

function edge(node: Node, from: number, y: number, most: number, hasGold: boolean): { svg: string; rank: number } {
  const [x1, x2] = [placeOf(node.depth - 1), placeOf(node.depth)];
  const stroke = most > 0 ? 1 + (5 * node.share) / most : 2;
  const path = `M${x1} ${from}C${x1} ${y} ${x1} ${y} ${x2} ${y}`;
  const kind = kindOf(node, hasGold);
  const share = node.share > 0 ? `: ${percentOf(node.share)}` : '';
  const title = escapeText(`${arrow(node)} ${node.entity}${share}`);
  const rank = (node.isTaken ? 2 : 0) + (node.isGold ? 1 : 0);
  return {
    svg: `<path class="${kind}" d="${path}" stroke-width="${stroke.toFixed(1)}"><title>${title}</title></path>`,
    rank,
  };
}

function name(node: Node, y: number, hasGold: boolean): string {
  const x = placeOf(node.depth);
  const kind = node.depth === 0 ? 'start' : kindOf(node, hasGold);
  const share = node.ends === undefined ? '' : percentOf(node.ends);
  const room = Math.floor((width - x - 12 - (share ? 48 : 4)) / letter);
  const before = node.depth === 0 ? '' : `${arrow(node)} `;
  // The entity gets most of the width; the relation gets the rest, at least a third.
  const entity = cut(node.entity, Math.max(room - before.length, Math.ceil((room * 2) / 3)));
  const relation = before && cut(before.trimEnd(), Math.max(3, room - entity.length - 1));
  const full = escapeText(`${before}${node.entity}`);
  return (
    `<circle class="${kind}" cx="${x}" cy="${y}" r="4"/>` +
    `<text class="${kind}" x="${x + 10}" y="${y + 4}"><title>${full}</title>` +
    `${relation ? `<tspan class="relation">${escapeText(relation)}</tspan> ` : ''}${escapeText(entity)}</text>` +
    (share ? `<text class="share" x="${width - 2}" y="${y + 4}" text-anchor="end">${share}</text>` : '')
  );
}

const arrow = ({ relation, inverse }: Pick<Node, 'relation' | 'inverse'>) =>
  inverse ? `←${relation}—` : `—${relation}→`;

const textOf = (walk: readonly Hop[]) =>
  [walk[0]![0], ...walk.map(([, relation, tail]) => `${relation} ${tail}`)].join(', ');

const percentOf = (share: number) => `${(100 * share).toFixed(share >= 0.0995 ? 0 : 1)} %`;

const cut = (text: string, limit: number) => printable(text, Math.max(2, limit));
