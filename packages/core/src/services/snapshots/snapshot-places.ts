import {
  API_VERSION,
  BadRequest,
  fieldSpec,
  requireSecretsAgain,
  Unavailable,
  type SnapshotPlace,
  type SnapshotStoragePlugin,
} from '@strongroom/engine-sdk';
import type { TProperties } from 'typebox';
import type { UsablePlugins } from '../plugins/usable-plugins.ts';
import type { SnapshotSettings } from './schedule-records.ts';

const KIND = 'snapshot-storage';
/** Texts in which another server would look for a file or a variable. */
const REFERENCE = /^(?:env|file):\/\//;

type Values = SnapshotSettings['settings'];

/** The kinds of places that this server can write snapshots to. */
export class SnapshotPlaces {
  readonly #plugins: UsablePlugins;

  constructor(plugins: UsablePlugins) {
    this.#plugins = plugins;
  }

  /** The fields of all kinds. */
  get fields(): TProperties {
    return Object.assign({}, ...this.#all.map(({ fields }) => fields)) as TProperties;
  }

  /** @throws BadRequest for a type that this server does not know */
  type(name: string): SnapshotStoragePlugin {
    const found = this.#all.find((plugin) => plugin.name === name);
    if (found) return found;
    const known = this.#all.map((plugin) => JSON.stringify(plugin.name)).join(' and ');
    const reason = this.#plugins.reasonFor(KIND, name) ?? `this server has ${known || 'no storage for snapshots'}`;
    throw new BadRequest(`storage_type: ${JSON.stringify(name)} is not there: ${reason}`);
  }

  /** As `type`, for settings that were accepted before. @throws Unavailable */
  stored(name: string): SnapshotStoragePlugin {
    try {
      return this.type(name);
    } catch (error) {
      throw new Unavailable((error as Error).message);
    }
  }

  /**
   * The values of a type's fields after a write: what is not sent stays. Secrets stay only while the address does.
   * @throws BadRequest
   */
  merged(type: SnapshotStoragePlugin, sent: Readonly<Record<string, unknown>>, before: Values | undefined): Values {
    const values: Values = { ...before };
    const own = Object.keys(type.fields);
    const foreign = Object.keys(this.fields).find((name) => !own.includes(name) && sent[name] !== undefined && sent[name] !== '');
    if (foreign !== undefined) throw new BadRequest(`${foreign} does not belong to storage_type ${JSON.stringify(type.name)}`);
    for (const name of own) {
      const value = sent[name];
      if (value === undefined) continue;
      if (value === '') delete values[name];
      else values[name] = value as Values[string];
    }
    const secrets = own.filter((name) => fieldSpec(type.fields[name]!).secret);
    const reference = secrets.find((name) => REFERENCE.test(String(values[name] ?? '')));
    if (reference !== undefined)
      throw new BadRequest(`${reference} takes the secret itself: files and variables of the server are not read for a caller`);
    requireSecretsAgain({
      changed: before ? type.address.filter((name) => values[name] !== before[name]) : [],
      kept: secrets.filter((name) => before?.[name] !== undefined && sent[name] === undefined),
      // Whoever may write these settings has sudo; the secret is of another system all the same.
      sudo: false,
    });
    return values;
  }

  /** The values without those that are never shown. */
  shown(settings: SnapshotSettings): Values {
    const fields = this.#all.find(({ name }) => name === settings.storage_type)?.fields ?? {};
    return Object.fromEntries(
      Object.entries(settings.settings).filter(([name]) => Object.hasOwn(fields, name) && !fieldSpec(fields[name]!).secret),
    );
  }

  get #all(): SnapshotStoragePlugin[] {
    return this.#plugins.usable.filter(
      (plugin): plugin is SnapshotStoragePlugin => plugin.kind === KIND && plugin.apiVersion === API_VERSION,
    );
  }
}

export function placeOf({ path_prefix, file_prefix, settings }: SnapshotSettings): SnapshotPlace {
  return { pathPrefix: path_prefix, filePrefix: file_prefix, settings };
}
