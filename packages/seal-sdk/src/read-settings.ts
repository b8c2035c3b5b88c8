import { closest } from '@strongroom/engine-sdk';
import { SealUnavailable } from './errors.ts';
import { readSource, valueOf, type Reading, type SettingSources } from './setting-value.ts';
import type { Setting, Settings, SettingValues } from './settings.ts';

/** Something to say about one key; `key` is absent where it is about the block. The text follows the key and never shows a value. */
export interface SettingRemark {
  readonly key?: string;
  readonly text: string;
}

/** What a block says, read as the plugin declares it. */
export interface ReadSettings<S extends Settings> {
  /** What must be changed before the server can start. */
  readonly complaints: readonly SettingRemark[];
  /** What works for now, such as a file that is not there yet. */
  readonly notices: readonly SettingRemark[];
  /** The values. Files are read again at each call. @throws SealUnavailable for a file that cannot be read, or that holds no such value */
  values(): SettingValues<S>;
}

/** Reads a block. Everything that is wrong is in `complaints`. */
export function readSettings<S extends Settings>(settings: S, sources: SettingSources): ReadSettings<S> {
  const complaints: SettingRemark[] = [];
  const notices: SettingRemark[] = [];
  const names = Object.keys(settings);
  for (const key of Object.keys(sources.block)) {
    if (names.includes(key)) continue;
    const near = closest(key, names);
    complaints.push({ key, text: `is not a known key${near === undefined ? '' : `; did you mean ${near}?`}` });
  }
  const read = new Map<string, () => Reading>();
  for (const [key, declared] of Object.entries(settings)) {
    const source = sourceOf(key, declared, sources);
    read.set(key, () => readSource(declared, source, sources));
    const { problem, later } = readSource(declared, source, sources);
    if (problem !== undefined && later) notices.push({ key, text: `${problem}; the server stays sealed until it can be read` });
    else if (problem !== undefined) complaints.push({ key, text: problem });
    else if (declared.required && source === undefined) complaints.push({ text: `${key} is required: ${demand(declared)}` });
  }
  return {
    complaints,
    notices,
    values() {
      const values = Object.entries(settings).map(([key, declared]) => {
        const { problem, value } = read.get(key)!();
        if (problem !== undefined) throw new SealUnavailable(`${key} ${problem}`);
        return [key, valueOf(declared, value)] as const;
      });
      return Object.fromEntries(values) as SettingValues<S>;
    },
  };
}

/** The text that counts; an empty one counts as absent. */
function sourceOf(key: string, { env: names }: Setting, { block, env, envWins = true }: SettingSources): string | undefined {
  const written = Object.hasOwn(block, key) ? block[key] || undefined : undefined;
  const found = names.map((name) => env[name]).find(Boolean);
  return envWins ? (found ?? written) : (written ?? found);
}

function demand({ kind, env }: Setting): string {
  const what = { text: 'a text', secret: 'a text', flag: 'true or false', key: '32 bytes as hex or base64' }[kind];
  const variables = env.length === 0 ? '' : `; or set ${env.join(' or ')}`;
  return `${what}, env://NAME or file://path${variables}`;
}
