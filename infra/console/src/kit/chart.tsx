/** A plot over time. The arrow keys move its cursor and say the values; the same numbers are there as a table. */

import { useEffect, useRef, useState } from "preact/hooks";
import UPlot from "uplot";
import { text } from "../texts/text.ts";
import { Button } from "./copy.tsx";
import { type Column, Items, Table } from "./table.tsx";
import { localTime } from "./units.ts";

interface Series {
  label: string;
  /** Null where it was not measured: a gap. */
  values: readonly (number | null)[];
  /** The name of a color of the style sheet. */
  color: "busy" | "warn" | "good" | "bad";
  isDashed?: boolean;
}

interface Props {
  title: string;
  /** RFC 3339. */
  times: readonly string[];
  series: readonly Series[];
  written: (value: number) => string;
  /** Steps of the axis in powers of two, or in whole numbers. */
  steps?: keyof typeof STEPS;
}

const HEIGHT = 220;
const AXIS_WIDTH = 80;
const TIME_WIDTH = 75;
const STEPS = {
  binary: Array.from({ length: 60 }, (_, power) => 2 ** power),
  whole: Array.from({ length: 15 }, (_, power) => [1, 2, 5].map((one) => one * 10 ** power)).flat(),
};
const TWO_DAYS = 172_800;
const hours = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const days = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });

export function Chart(props: Props) {
  const { title, times, series } = props;
  const [isTable, showTable] = useState(false);
  const [at, setAt] = useState<number | null>(null);
  const move = (event: KeyboardEvent) => {
    const next = moved(event, at, times.length);
    if (next === null) return;
    event.preventDefault();
    setAt(next);
  };
  return (
    <div class="chart">
      <h2>{title}</h2>
      <Items of={series} class="legend">
        {({ label, color, isDashed }) => (
          <>
            <span style={{ borderTopStyle: isDashed ? "dashed" : "solid", borderTopColor: `var(--${color})` }} />
            {label}
          </>
        )}
      </Items>
      {isTable ? (
        <Numbers {...props} />
      ) : (
        <figure tabIndex={0} aria-label={text("chart.label", { title })} onKeyDown={move}>
          <Canvas {...props} at={at} onCursor={setAt} />
        </figure>
      )}
      <p class="facts">
        <span aria-live="polite">{sentence(props, at)}</span>
        <Button label={text("chart.as_table")} isSmall aria-pressed={isTable} onClick={() => showTable(!isTable)} />
      </p>
    </div>
  );
}

function moved(event: KeyboardEvent, at: number | null, length: number): number | null {
  const step = event.shiftKey ? 10 : 1;
  const from = at ?? length - 1;
  const places: Record<string, number> = {
    ArrowLeft: at === null ? from : from - step,
    ArrowRight: from + step,
    Home: 0,
    End: length - 1,
  };
  const next = places[event.key];
  return next === undefined || !length ? null : Math.max(0, Math.min(length - 1, next));
}

function sentence({ times, series, written }: Props, at: number | null): string {
  const time = at === null ? undefined : times[at];
  if (at === null || time === undefined) return text("chart.help");
  const values = series.map((one) => `${one.label} ${valueAt(one, at, written)}`);
  return `${localTime(time)}: ${values.join(", ")}`;
}

function valueAt(series: Series, at: number, written: Props["written"]): string {
  const value = series.values[at] ?? null;
  return value === null ? text("common.not_measured") : written(value);
}

/** The newest first, as everywhere. */
function Numbers({ title, times, series, written }: Props) {
  const columns: Column<number>[] = [
    [text("chart.time"), (at) => localTime(times[at] ?? "")],
    ...series.map((one): Column<number> => [one.label, (at) => valueAt(one, at, written), { isNumber: true }]),
  ];
  return <Table caption={title} columns={columns} rows={[...times.keys()].reverse()} id={String} />;
}

interface CanvasProps extends Props {
  at: number | null;
  onCursor: (at: number | null) => void;
}

function Canvas(props: CanvasProps) {
  const { times, series, at } = props;
  const ref = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(null);
  const data = [times.map((time) => Date.parse(time) / 1_000), ...series.map((one) => one.values)] as UPlot.AlignedData;
  const shape = JSON.stringify(series.map((one) => [one.label, one.color, one.isDashed]));
  useEffect(() => {
    const place = ref.current;
    if (!place) return;
    const made = new UPlot(options(place, props), data, place);
    plot.current = made;
    const sizes = new ResizeObserver(() => made.setSize({ width: place.clientWidth, height: HEIGHT }));
    sizes.observe(place);
    const theme = matchMedia("(prefers-color-scheme: dark)");
    const redraw = () => made.redraw(false);
    theme.addEventListener("change", redraw);
    return () => {
      theme.removeEventListener("change", redraw);
      sizes.disconnect();
      made.destroy();
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(data), [JSON.stringify(data)]);
  useEffect(() => {
    const made = plot.current;
    const time = at === null ? undefined : data[0][at];
    if (made && time !== undefined && made.cursor.idx !== at) {
      made.setCursor({ left: made.valToPos(time, "x"), top: 0 }, false);
    }
  }, [at]);
  return <div ref={ref} class="canvas" />;
}

function options(place: HTMLElement, { series, written, steps, onCursor }: CanvasProps): UPlot.Options {
  const axis: UPlot.Axis = { stroke: () => colorOf(place, "quiet"), grid: { stroke: () => colorOf(place, "line") } };
  return {
    width: place.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { y: { range: (_, low, high) => [Math.min(0, low ?? 0), high ? high * 1.05 : 1] } },
    axes: [
      { ...axis, space: TIME_WIDTH, values: (_, ticks) => ticks.map((tick) => axisTime(tick, ticks)) },
      { ...axis, size: AXIS_WIDTH, values: (_, ticks) => ticks.map(written), ...(steps && { incrs: STEPS[steps] }) },
    ],
    series: [
      {},
      ...series.map((one) => ({
        label: one.label,
        stroke: () => colorOf(place, one.color),
        width: 2,
        spanGaps: false,
        points: { show: true, size: 5, filter: alone },
        ...(one.isDashed ? { dash: [8, 5] } : {}),
      })),
    ],
    hooks: { setCursor: [(made) => onCursor(made.cursor.idx ?? null)] },
  };
}

/** The points that no line shows, since nothing was measured beside them. */
function alone(made: UPlot, series: number): number[] {
  const values = made.data[series] ?? [];
  const isGap = (index: number) => (values[index] ?? null) === null;
  return [...values.keys()].filter((index) => !isGap(index) && isGap(index - 1) && isGap(index + 1));
}

/** The hour, or the day where the axis spans several. */
function axisTime(tick: number, ticks: readonly number[]): string {
  const span = (ticks.at(-1) ?? tick) - (ticks[0] ?? tick);
  return (span > TWO_DAYS ? days : hours).format(tick * 1_000);
}

/** A canvas knows no custom properties: the color as it is now, in the light or dark of the page. */
function colorOf(place: HTMLElement, name: string): string {
  place.style.color = `var(--${name})`;
  const color = getComputedStyle(place).color;
  place.style.color = "";
  return color;
}
