import { ConfigurationInvalid } from '@strongroom/database-sdk';

/** As commands carry it. */
export interface WriteConcern {
  readonly w: number | string;
  readonly wtimeout?: number;
  readonly j?: boolean;
}

/**
 * The `write_concern` of a connection: JSON, or base64 of it, with the keys of the mgo driver's `Safe` in any case: `w` (how many), `wmode` (such as
 * "majority"), `wtimeout` (milliseconds), `j`, and `fsync`, which means `j` since MongoDB 3.2. Throws ConfigurationInvalid.
 */
export function parseWriteConcern(text: string | undefined): WriteConcern | undefined {
  if (!text) return undefined;
  const entries = Object.entries(parseObject(text)).map(([key, value]) => [key.toLowerCase(), value] as const);
  const { w, wmode, wtimeout, j, fsync, ...unknown } = Object.fromEntries(entries);
  const [surplus] = Object.keys(unknown);
  if (surplus !== undefined) throw invalid(`has an unknown key "${surplus}"`);
  const flag = (name: string, value: unknown): boolean => {
    if (value === undefined || typeof value === 'boolean') return value ?? false;
    throw invalid(`needs true or false for ${name}`);
  };
  if (w !== undefined && typeof w !== 'string' && !isCount(w)) throw invalid('needs a number or a name for w');
  if (wmode !== undefined && typeof wmode !== 'string') throw invalid('needs a name for wmode');
  if (wtimeout !== undefined && !isCount(wtimeout)) throw invalid('needs milliseconds for wtimeout');
  const journaled = flag('j', j) || flag('fsync', fsync);
  return { w: w || wmode || 'majority', ...(wtimeout && { wtimeout }), ...(journaled && { j: true }) };
}

function parseObject(text: string): Record<string, unknown> {
  for (const candidate of [text, Buffer.from(text, 'base64').toString('utf8')]) {
    try {
      const parsed: unknown = JSON.parse(candidate);
      if (parsed !== null && typeof parsed === 'object' && !Array.isArray(parsed)) return parsed as Record<string, unknown>;
    } catch {
      // Said below.
    }
  }
  throw invalid('must be a JSON object, such as {"wmode": "majority", "wtimeout": 5000}');
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

function invalid(complaint: string): ConfigurationInvalid {
  return new ConfigurationInvalid(`write_concern ${complaint}`);
}
