/** A metric by its name, with what it says and the labels of its series. */
export interface MetricFamily {
  readonly name: string;
  /** `counter`, `gauge`, `histogram` or `summary`. */
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
}
