/** The loss of a language model's training as a picture. */
import { z } from 'zod';
import { renderPng } from '../../reports/pictures.js';
import { lineChart, type Line } from '../../reports/line-chart.js';
import { curveOf } from '../../reports/series.js';
import { light, palette } from '../../reports/chart.js';
import { writeFileAtomic } from '../../src/run/files.js';
import { readJsonLines } from '../../src/run/json-lines.js';
import { anyNumber } from '../../src/run/record-schemas.js';

/** Lines of the log that have one of the two; others are left out. */
const logLine = z.object({
  tokens: anyNumber.optional(),
  loss: anyNumber.optional(),
  watched: z.record(z.string(), z.object({ loss: anyNumber })).optional(),
});
type LogLine = z.output<typeof logLine>;

/** Draws what is trained on and what is watched, in nats a token over millions of tokens. @returns `picture` */
export async function drawLossCurve(log: string, picture: string): Promise<string> {
  const lines = readJsonLines(log, logLine);
  const series = (valueOf: (line: LogLine) => number | undefined) =>
    new Map(
      lines.flatMap((line): [number, number][] => {
        const value = valueOf(line);
        return line.tokens === undefined || value === undefined ? [] : [[line.tokens / 1e6, value]];
      }),
    );
  // What is watched is shown as measured, what is trained on smoothed.
  const curves = [
    { label: 'trained on', key: 'loss', values: series(({ loss }) => loss) },
    { label: 'watched', key: 'eval/loss', values: series(({ watched }) => watched?.all?.loss) },
  ];
  const drawn = curves.map(({ label, key, values }, i): Line => ({
    label,
    color: palette[i]!,
    curve: curveOf([values], key),
  }));
  const chart = lineChart(drawn, {
    title: 'Weighted loss of a token, nats',
    xLabel: 'tokens seen, millions',
    percent: false,
    fromZero: true,
  });
  writeFileAtomic(picture, await renderPng(chart.config(light), chart.size, light.paper));
  return picture;
}
