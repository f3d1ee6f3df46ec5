/** What chart.js does not draw itself: names at the ends of lines, whiskers, a mark across bars. */
import type { Chart, Plugin } from 'chart.js';
import { font } from './charts.js';
import type { Figure } from './results.js';
import type { Theme } from './theme.js';

/** A name at the end of a line. */
export interface EndLabel {
  label: string;
  color: string;
  /** In data units; NaN is not drawn. */
  value: number;
}

const lineHeight = 14;

/** Names at the right of the plot, each at the height of its value, moved apart where they would overlap. */
export function endLabels(labels: readonly EndLabel[]): Plugin {
  return {
    id: 'endLabels',
    afterDatasetsDraw({ ctx, chartArea, scales }: Chart) {
      const wanted = labels
        .filter(({ value }) => Number.isFinite(value))
        .map((label) => ({ ...label, y: scales.y!.getPixelForValue(label.value) }))
        .sort((a, b) => a.y - b.y);
      const heights = spreadOut(
        wanted.map(({ y }) => y),
        lineHeight,
        chartArea.top,
        chartArea.bottom,
      );
      ctx.save();
      ctx.textBaseline = 'middle';
      ctx.font = `12px ${font}`;
      wanted.forEach(({ label, color }, i) => {
        ctx.fillStyle = color;
        ctx.fillText(label, chartArea.right + 8, heights[i]!);
      });
      ctx.restore();
    },
  };
}

/**
 * Moves ascending positions as little as a sweep down and a sweep up need to keep them `gap` apart inside the bounds;
 * more labels than fit overlap at the top.
 */
export function spreadOut(positions: readonly number[], gap: number, top: number, bottom: number): number[] {
  const moved = [...positions];
  for (let i = 0; i < moved.length; i++) moved[i] = Math.max(moved[i]!, i === 0 ? top : moved[i - 1]! + gap);
  for (let i = moved.length - 1; i >= 0; i--) {
    moved[i] = Math.min(moved[i]!, i === moved.length - 1 ? bottom : moved[i + 1]! - gap);
  }
  return moved;
}

/** The interval as a line with ends over each bar, and the value beside it. */
export function whiskers(figures: readonly Figure[], write: (value: number) => string, { ink, paper }: Theme): Plugin {
  return {
    id: 'whiskers',
    afterDatasetsDraw(chart: Chart) {
      const { ctx, scales } = chart;
      ctx.save();
      ctx.lineJoin = 'round';
      ctx.textBaseline = 'middle';
      ctx.font = `12px ${font}`;
      chart.getDatasetMeta(0).data.forEach((bar, i) => {
        const { value, low, high } = figures[i]!;
        const [left, right, y] = [scales.x!.getPixelForValue(low), scales.x!.getPixelForValue(high), bar.y];
        ctx.strokeStyle = ink;
        ctx.lineWidth = 1.2;
        ctx.beginPath();
        ctx.moveTo(left, y);
        ctx.lineTo(right, y);
        for (const x of [left, right]) {
          ctx.moveTo(x, y - 3.5);
          ctx.lineTo(x, y + 3.5);
        }
        ctx.stroke();
        ctx.fillStyle = ink;
        const [text, x] = [write(value), Math.max(right, bar.x) + 7];
        ctx.strokeStyle = paper;
        ctx.lineWidth = 3;
        ctx.strokeText(text, x, y);
        ctx.fillText(text, x, y);
      });
      ctx.restore();
    },
  };
}

/** A dashed line across all bars with its name above the plot. */
export function verticalMark(value: number, label: string, { quiet }: Theme): Plugin {
  return {
    id: 'verticalMark',
    afterDatasetsDraw({ ctx, chartArea, scales }: Chart) {
      const x = scales.x!.getPixelForValue(value);
      ctx.save();
      ctx.strokeStyle = quiet;
      ctx.setLineDash([5, 4]);
      ctx.beginPath();
      ctx.moveTo(x, chartArea.top);
      ctx.lineTo(x, chartArea.bottom);
      ctx.stroke();
      ctx.fillStyle = quiet;
      ctx.font = `11px ${font}`;
      ctx.textAlign = 'right';
      ctx.fillText(label, Math.min(x + ctx.measureText(label).width / 2, chartArea.right + 40), chartArea.top - 6);
      ctx.restore();
    },
  };
}
