import { formatDuration } from '../duration.ts';
import { isRecord } from '../json.ts';
import { goValue } from './go-value.ts';

const DURATION_KEY = /^(period|ttl|duration|lease_max|ttl_max)$|_(period|ttl|duration)$/;
const PLAIN_KEY = /^[^\s.[\]"]+$/;

/**
 * A value as the rows of a Key/Value table. An object has a row for each of its leaves, named `outer.inner`, and so does a list of objects: `outer[0].inner`.
 * Keys of objects are sorted; a key that the name could not show apart stands in quotes. A number under a key that names a time is a duration.
 */
export function leafRows(key: string, value: unknown, last = key): [name: string, value: string][] {
  if (isRecord(value)) {
    const inner = Object.keys(value).sort();
    if (inner.length === 0) return [[key, '{}']];
    return inner.flatMap((name) => leafRows(`${key}.${PLAIN_KEY.test(name) ? name : JSON.stringify(name)}`, value[name], name));
  }
  if (Array.isArray(value) && value.some((item) => isRecord(item) || Array.isArray(item)))
    return value.flatMap((item, index) => leafRows(`${key}[${index}]`, item, ''));
  return [[key, typeof value === 'number' && DURATION_KEY.test(last) ? formatDuration(value) : goValue(value)]];
}
