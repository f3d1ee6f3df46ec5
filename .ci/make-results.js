// Writes docs/results.md from the records in docs/results/: `npm run results`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';
import { format } from 'prettier';

const root = join(import.meta.dirname, '..');

/** Where the page is kept. */
export const page = 'docs/results.md';

const intro = `# Results

Made by \`npm run results\` from the records in \`docs/results/\`, which hold more rows and figures. \`kgwalk results list\` shows them all, \`kgwalk results list --html FILE\` writes them as a page with tables to sort, and
\`kgwalk results check ROW\` trains and evaluates a row again and says whether its interval holds. A command below a table is that of one row; \`--dry-run\` prints the others.

Rates are in percent, brackets 95 % bootstrap intervals, ± the standard deviation over seeds; several values are by seed; s is processor seconds of training on busy machines. \`path@k\` wants the exact walk among the
first k, \`target@k\` its end, \`Hit@1\` a right first answer, \`exact\` and \`complete\` the whole set.
`;

/** The page of some sections of records, as prettier writes it. @param commandsOf as in reports/result-records.ts */
export async function render(sections, commandsOf) {
  const text = sections.flatMap(({ title, about, tables }) => [
    `## ${title}`,
    about ?? '',
    ...tables.flatMap((table) => tableText(table, commandsOf)),
  ]);
  return format([intro, ...text].join('\n\n'), { parser: 'markdown', printWidth: 120 });
}

function tableText({ title, about = '', says = '', figures, columns = figures, records }, commandsOf) {
  const shown = records.filter(({ page = true }) => page);
  const ours = shown.filter(({ published }) => published === undefined);
  const published = shown.filter((one) => !ours.includes(one));
  const [first] = ours.filter(({ train, evaluate }) => train.length === 1 && /\bRUN\b/.test(evaluate)).concat(ours);
  if (shown.length === 0) return about || says ? [`### ${title}`, about, says] : [];
  const commands = first ? ['```bash', ...commandsOf(first), '```'].join('\n') : '';
  return [`### ${title}`, about, ...part(ours, columns), commands, ...part(published, columns, 'source'), says];
}

const facts = {
  split: ({ split }) => split,
  n: ({ n }) => n?.toLocaleString('en'),
  seeds: ({ seeds }) => seeds?.join(', '),
};

/** A table: facts that all rows share in its first head, the others in columns. */
function part(records, figures, source) {
  if (records.length === 0) return [];
  const values = Object.entries(facts).map(([name, of]) => {
    const known = new Set(records.map(of).filter((value) => value !== undefined));
    return { name, of, known: [...known] };
  });
  const same = values.filter(({ known }) => known.length === 1);
  const different = values.filter(({ known }) => known.length > 1);
  const caption = same.map(({ name, known: [value] }) => saying(name, value)).join(', ');
  const shown = figures.filter((name) => records.some((one) => one.figures[name] !== undefined));
  const seconds = records.some((one) => one.seconds !== undefined);
  const head = [
    ...[caption || ' ', ...different.map(({ name }) => name), ...shown],
    ...[...(seconds ? ['s'] : []), ...(source ? [source] : [])],
  ];
  const rows = records.map((record) => [
    source ? record.agent : [`\`${record.id}\``, nameOf(record)].join(' '),
    ...different.map(({ of }) => of(record) ?? ''),
    ...shown.map((name, i) => cell(record, name, digits(records, name), i === 0)),
    ...(seconds ? [record.seconds?.toLocaleString('en') ?? ''] : []),
    ...(source ? [record.published] : []),
  ]);
  return [[head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')];
}

function saying(name, value) {
  if (name === 'split') return value;
  return name === 'seeds' && !value.includes(',') ? `seed ${value}` : `${name} ${value}`;
}

/** What a row is, where its id does not say it. */
const nameOf = ({ title, agent }) => title ?? (/^[\w./-]+$/.test(agent) ? '' : agent);

/** Digits behind the point that the values of a column need. */
function digits(records, name) {
  const values = records.map(({ figures }) => figures[name] ?? 0);
  return Math.max(...values.map((value) => String(value).split('.')[1]?.length ?? 0));
}

function cell({ figures, interval, sd, bySeed }, name, places, isMain) {
  const value = figures[name];
  if (value === undefined) return '';
  const text = (number) => (number === 0 ? '0' : number.toFixed(places));
  if (!isMain) return name === 'p' ? String(value) : text(value);
  const range = interval ? ` [${interval.map(text).join('–')}]` : sd === undefined ? '' : ` ± ${sd}`;
  return bySeed && sd === undefined ? `${bySeed.map(text).join(' ')}${range}` : `${text(value)}${range}`;
}

if (import.meta.url === pathToFileURL(argv[1] ?? '').href) {
  const { commandsOf, readResults } = await import('../dist/reports/result-records.js');
  writeFileSync(join(root, page), await render(readResults(), commandsOf));
}
