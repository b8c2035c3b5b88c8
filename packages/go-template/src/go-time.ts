const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const DAY = 86_400_000;

/** The pieces of a Go layout, tried at each position in this order. */
const PIECES =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|002|0[1-6]|15|1|2006|2|__2|_2006|_2|3|4|5|PM|pm|-070000|-07:00:00|-0700|-07:00|-07|Z070000|Z07:00:00|Z0700|Z07:00|Z07|[.,](?:0+|9+)(?!\d)/g;

/** The time in UTC, laid out as Go's `time.Format` does: the layout shows how 2006-01-02 15:04:05 would look. */
export function formatGoTime(time: Date, layout: string): string {
  return layout.replace(PIECES, (piece) => format(time, piece));
}

function format(time: Date, piece: string): string {
  const hour = time.getUTCHours();
  switch (piece) {
    case 'January':
      return MONTHS[time.getUTCMonth()] ?? '';
    case 'Jan':
      return (MONTHS[time.getUTCMonth()] ?? '').slice(0, 3);
    case '1':
      return String(time.getUTCMonth() + 1);
    case '01':
      return padded(time.getUTCMonth() + 1);
    case 'Monday':
      return DAYS[time.getUTCDay()] ?? '';
    case 'Mon':
      return (DAYS[time.getUTCDay()] ?? '').slice(0, 3);
    case '2':
      return String(time.getUTCDate());
    case '_2':
      return padded(time.getUTCDate(), 2, ' ');
    case '02':
      return padded(time.getUTCDate());
    case '__2':
      return padded(dayOfYear(time), 3, ' ');
    case '002':
      return padded(dayOfYear(time), 3);
    case '15':
      return padded(hour);
    case '3':
      return String(hour % 12 || 12);
    case '03':
      return padded(hour % 12 || 12);
    case '4':
      return String(time.getUTCMinutes());
    case '04':
      return padded(time.getUTCMinutes());
    case '5':
      return String(time.getUTCSeconds());
    case '05':
      return padded(time.getUTCSeconds());
    case '2006':
      return padded(time.getUTCFullYear(), 4);
    case '_2006':
      return `_${padded(time.getUTCFullYear(), 4)}`;
    case '06':
      return padded(time.getUTCFullYear() % 100);
    case 'PM':
      return hour < 12 ? 'AM' : 'PM';
    case 'pm':
      return hour < 12 ? 'am' : 'pm';
    case 'MST':
      return 'UTC';
    default:
      if (piece.startsWith('Z')) return 'Z';
      if (piece.startsWith('-')) return `+${piece.slice(1).replaceAll(/\d/g, '0')}`;
      return fraction(time, piece);
  }
}

function fraction(time: Date, piece: string): string {
  const digits = padded(time.getUTCMilliseconds(), 3)
    .padEnd(piece.length - 1, '0')
    .slice(0, piece.length - 1);
  if (piece[1] === '0') return `${piece.charAt(0)}${digits}`;
  const trimmed = digits.replace(/0+$/, '');
  return trimmed === '' ? '' : `${piece.charAt(0)}${trimmed}`;
}

function dayOfYear(time: Date): number {
  return Math.floor((time.getTime() - Date.UTC(time.getUTCFullYear(), 0, 1)) / DAY) + 1;
}

function padded(number: number, width = 2, fill = '0'): string {
  return String(number).padStart(width, fill);
}
