/** A text field that completes names while they are typed: a combobox with a list of options. */
import { h } from './dom.js';

/** Part of a text that is completed. */
export interface Part {
  text: string;
  from: number;
  to: number;
}

interface CompletedField {
  /** Part to complete, of the text and the place of the cursor; undefined: none. */
  part(text: string, cursor: number): Part | undefined;
  /** Names for a part, best first. */
  names(part: string): Promise<readonly string[]>;
  /** Text of a name that was chosen. Default: the name. */
  written?(name: string): string;
}

/** Pause after the last key before names are requested, in milliseconds. */
const pauseMs = 120;

let made = 0;

/** Adds completion to an input; arrows choose, Enter takes, Escape closes. @returns the input with its list */
export function completed(input: HTMLInputElement, { part, names, written = (name) => name }: CompletedField) {
  const id = `names-${++made}`;
  const list = h('ul', { id, role: 'listbox', class: 'names', hidden: true, 'aria-label': 'names of the graph' });
  let [chosen, asked]: [number, number] = [-1, 0];
  for (const [key, value] of Object.entries({ role: 'combobox', 'aria-autocomplete': 'list', 'aria-controls': id })) {
    input.setAttribute(key, value);
  }
  const options = () => [...list.children] as HTMLElement[];
  const show = (isOpen: boolean) => {
    list.hidden = !isOpen;
    input.setAttribute('aria-expanded', String(isOpen));
    if (!isOpen) choose(-1);
  };
  const choose = (place: number) => {
    chosen = place;
    options().forEach((option, i) => option.setAttribute('aria-selected', String(i === place)));
    const option = options()[place];
    if (!option) return input.removeAttribute('aria-activedescendant');
    input.setAttribute('aria-activedescendant', option.id);
    option.scrollIntoView({ block: 'nearest' });
  };
  const take = (name: string) => {
    const { from, to } = part(input.value, input.selectionStart ?? 0) ?? { from: 0, to: input.value.length };
    const text = written(name);
    input.setRangeText(text, from, to, 'end');
    close();
    input.dispatchEvent(new Event('input'));
    input.focus();
  };
  const close = () => {
    asked++;
    show(false);
  };
  const look = async () => {
    const now = ++asked;
    const wanted = part(input.value, input.selectionStart ?? 0);
    if (!wanted || wanted.text.trim() === '') return show(false);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    // Without names the field is filled in by hand; the question itself says what is wrong.
    const found = now === asked ? await names(wanted.text).catch(() => []) : [];
    if (now !== asked) return;
    list.replaceChildren(
      ...found.map((name, i) =>
        h(
          'li',
          {
            ...{ id: `${id}-${i}`, role: 'option', 'aria-selected': 'false' },
            // Before the field loses the focus.
            mousedown: (event) => (event.preventDefault(), take(name)),
          },
          name,
        ),
      ),
    );
    show(found.length > 0);
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => choose((chosen + 1) % options().length),
    ArrowUp: () => choose((chosen <= 0 ? options().length : chosen) - 1),
    Escape: close,
    ...{ Enter: () => take(options()[chosen]!.textContent), Tab: close },
  };
  input.addEventListener('input', (event) => event.isTrusted && void look());
  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    if (list.hidden || !Object.hasOwn(keys, event.key) || (event.key === 'Enter' && chosen < 0)) return;
    if (event.key !== 'Tab') event.preventDefault();
    keys[event.key]!();
  });
  show(false);
  return h('span', { class: 'completed' }, input, list);
}

/** All of a text. */
export const wholeText = (text: string): Part => ({ text, from: 0, to: text.length });

/** The part of a text behind an open bracket, up to its closing one. */
export function inBrackets(text: string, cursor: number): Part | undefined {
  const from = text.lastIndexOf('[', cursor - 1) + 1;
  if (from === 0 || text.slice(from, cursor).includes(']')) return undefined;
  const [rest] = /^[^[\]]*\]/.exec(text.slice(cursor)) ?? [''];
  return { text: text.slice(from, cursor), from, to: cursor + rest.length };
}
