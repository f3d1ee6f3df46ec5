/** Elements without markup, so that all text from data stays text, and requests to the server. */
import { meaningOf } from '../../src/run/figure-meanings.js';

type Attributes = Readonly<Record<string, string | number | boolean | undefined | ((event: Event) => void)>>;
type Child = Node | string | undefined | false;

/**
 * Creates an element.
 * @param attributes functions become event listeners; true becomes an empty attribute, false and undefined are skipped
 */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(key, value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? '' : String(value));
  }
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}

/** A scrollable table; cells are texts or elements, numbers are right-aligned. @param own places of highlighted rows @param words places of columns of text */
export function table(
  head: readonly Child[],
  rows: readonly (readonly Child[])[],
  { label, words = [], own = [] }: { label: string; words?: readonly number[]; own?: readonly number[] },
): HTMLElement {
  const cell = (name: 'td' | 'th') => (child: Child, i: number) =>
    h(name, { class: words.includes(i) ? 'words' : undefined, ...(name === 'th' && headOf(child)) }, child);
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label },
    h(
      'table',
      {},
      h('thead', {}, h('tr', {}, ...head.map(cell('th')))),
      h(
        'tbody',
        {},
        ...rows.map((row, i) => h('tr', { class: own.includes(i) ? 'own' : undefined }, ...row.map(cell('td')))),
      ),
    ),
  );
}

/** Attributes of a head, whose figure is explained on hover. */
const headOf = (child: Child) => ({ scope: 'col', title: typeof child === 'string' ? meaningOf(child) : undefined });

/** A labelled select. @param options value and text, or one for both */
export function choice(
  label: string,
  options: readonly (string | readonly [value: string, text: string])[],
  chosen: string,
  onChange: (value: string) => void,
): HTMLLabelElement {
  const select = h(
    'select',
    { change: () => onChange(select.value) },
    ...options.map((option) => {
      const [value, text] = typeof option === 'string' ? [option, option] : option;
      return h('option', { value, selected: value === chosen }, text);
    }),
  );
  return h('label', { class: 'field' }, h('span', {}, label), select);
}

/** SVG from the server as elements; scripts in it would not run, and it has none. */
export function drawing(svg: string): Element {
  const root = new DOMParser().parseFromString(svg, 'text/html').body.firstElementChild!;
  return document.importNode(root, true);
}

/** A paragraph in the background. */
export const quiet = (...children: Child[]): HTMLElement => h('p', { class: 'quiet' }, ...children);

/** A form of controls, which is never sent. */
export const controls = (...children: Child[]): HTMLFormElement =>
  h('form', { class: 'controls', submit: (event) => event.preventDefault() }, ...children);

/** An error in words, with its hint. */
export function trouble(error: unknown): HTMLElement {
  const { message, hint } = error as { message?: string; hint?: string };
  const words = h('p', {}, message ?? String(error));
  return h('div', { class: 'trouble', role: 'alert' }, words, hint !== undefined && quiet(hint));
}

/** An error reply with its hint. */
class Refused extends Error {
  constructor(
    message: string,
    readonly hint: string | undefined,
  ) {
    super(message);
  }
}

async function read<T>(answer: Response): Promise<T> {
  const body = (await answer.json().catch(() => ({}))) as { error?: { message: string; hint?: string } };
  if (answer.ok) return body as T;
  throw new Refused(body.error?.message ?? `the server answered ${answer.status}`, body.error?.hint);
}

/** Fetches JSON. @param query arrays become repeated parameters */
export async function get<T>(path: string, query: Query = {}): Promise<T> {
  return read<T>(await fetch(addressOf(path, query)));
}

export async function post<T>(path: string, body: unknown): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  return read<T>(await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }));
}

type Query = Readonly<Record<string, string | readonly string[]>>;

export function addressOf(path: string, query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map((one) => [name, one]),
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}
