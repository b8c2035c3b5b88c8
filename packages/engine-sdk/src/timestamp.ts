const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** The time that a text of RFC 3339 names; undefined for any other text, and for a day that no calendar has, such as 30 February. */
export function parseTimestamp(text: string): Date | undefined {
  const [, year, month, day] = RFC3339.exec(text) ?? [];
  if (day === undefined || Number(day) > daysOf(Number(year), Number(month))) return undefined;
  const date = new Date(text.replace(' ', 'T'));
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** @param month from 1 */
function daysOf(year: number, month: number): number {
  const last = new Date(0);
  last.setUTCFullYear(year, month, 0);
  return last.getUTCDate();
}
