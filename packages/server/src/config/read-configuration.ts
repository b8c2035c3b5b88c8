import { dirname, resolve } from 'node:path';
import { HclSyntaxError, parseHcl } from '@strongroom/hcl';
import { readAudit } from './audit-section.ts';
import { Complaints, placeText } from './complaints.ts';
import { type Configuration, type PluginChoice, type StorageChoice } from './configuration.ts';
import { readConsole } from './console-section.ts';
import { LOG_LEVELS } from '../log/log-level.ts';
import { defaultConfiguration, defaultDataFolder } from './default-configuration.ts';
import { IGNORED, REFUSED } from './foreign-keys.ts';
import { readLockout } from './lockout-section.ts';
import { readListeners } from './listener-section.ts';
import { sanitizedConfiguration } from './sanitized.ts';
import { readSeals } from './seal-section.ts';
import { Section, type Sourced } from './section.ts';
import { readSources, type ConfigurationText } from './sources.ts';
import { readWorkers } from './workers-key.ts';
import { readOneStorage, readStorage } from './storage-section.ts';
import { readTracing } from './tracing-section.ts';

export interface ReadOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Development: storage in memory and no listener unless configured, plain HTTP on every address. */
  readonly dev?: boolean;
}

/** The number of labels that blocks of these names have in JSON. */
const LABELS = {
  storage: 1,
  backend: 1,
  ha_storage: 1,
  ha_backend: 1,
  storage_source: 1,
  storage_destination: 1,
  listener: 1,
  seal: 1,
  audit: 2,
  plugin: 1,
  service_registration: 1,
  entropy: 1,
  user_lockout: 1,
};

/** Reads files and folders as one configuration. @throws ConfigurationInvalid with every complaint */
export function readConfiguration(paths: readonly string[], options: ReadOptions = {}): Configuration {
  const complaints = new Complaints();
  return checkTexts(readSources(paths, complaints), complaints, options);
}

/** The same for texts that are already read. @throws ConfigurationInvalid with every complaint */
export function checkConfiguration(texts: readonly ConfigurationText[], options: ReadOptions = {}): Configuration {
  return checkTexts(texts, new Complaints(), options);
}

/** Reads what `operator migrate` is to do. @throws ConfigurationInvalid with every complaint */
export function readMigration(
  paths: readonly string[],
  { env = process.env }: ReadOptions = {},
): { source: StorageChoice; destination: StorageChoice } {
  const complaints = new Complaints();
  const items = readSources(paths, complaints).flatMap((text) => parsed(text, complaints));
  const top = new Section('', items, { file: paths[0] ?? 'the configuration', line: 0 }, complaints);
  const source = readOneStorage(top, 'storage_source', env);
  const destination = readOneStorage(top, 'storage_destination', env);
  top.ignore({ cluster_addr: 'servers of one store need no address for each other' });
  top.done();
  complaints.done();
  return { source: source!, destination: destination! };
}

function checkTexts(
  texts: readonly ConfigurationText[],
  complaints: Complaints,
  { env = process.env, dev = false }: ReadOptions,
): Configuration {
  const items = texts.flatMap((text) => parsed(text, complaints));
  const top = new Section('', items, { file: texts[0]?.file ?? 'the configuration', line: 0 }, complaints);
  const defaults = defaultConfiguration(env);
  const storage = readStorage(top, defaultDataFolder(env), env);
  const listeners = readListeners(top, dev);
  const seals = readSeals(top, env);
  const defaultLeaseTtl = top.duration('default_lease_ttl', { min: 1 });
  const maxLeaseTtl = top.duration('max_lease_ttl', { min: 1 });
  if (defaultLeaseTtl !== undefined && maxLeaseTtl !== undefined && defaultLeaseTtl > maxLeaseTtl) {
    top.complain('default_lease_ttl', 'is longer than max_lease_ttl');
  }
  const apiAddress = readUrl(top, 'api_addr', env);
  const clusterName = top.text('cluster_name');
  const logFile = top.text('log_file');
  const pidFile = top.text('pid_file');
  const logLevel = top.oneOf('log_level', LOG_LEVELS, { notice: 'info', warning: 'warn', err: 'error' });
  const logFormat = top.oneOf('log_format', ['standard', 'json']);
  const audit = readAudit(top, env);
  const auditEmergencyDisable = top.strings('audit_emergency_disable') ?? [];
  const lockout = readLockout(top, env);
  const metrics = readTelemetry(top);
  const tracing = readTracing(top, env);
  const plugins = readPlugins(top);
  const console = readConsole(top);
  const workers = readWorkers(top, storage?.type ?? (dev ? 'inmem' : defaults.storage.type), dev);
  top.ignore(IGNORED);
  top.refuse(REFUSED);
  top.done();
  complaints.done();
  if (!storage && !dev) complaints.notice(top.placeOf('storage'), `has no storage block, so the store is in ${defaultDataFolder(env)}`);
  return {
    storage: storage ?? (dev ? { type: 'inmem' } : defaults.storage),
    listeners: listeners.length > 0 || dev ? listeners : defaults.listeners,
    workers,
    logLevel: logLevel ?? defaults.logLevel,
    logFormat: logFormat ?? defaults.logFormat,
    metrics,
    audit,
    auditEmergencyDisable,
    plugins,
    console,
    notices: complaints.notices,
    sanitized: sanitizedConfiguration(items, { storage: dev ? 'inmem' : defaults.storage.type }),
    seals,
    ...(tracing ? { tracing } : {}),
    ...(lockout ? { lockout } : {}),
    ...(apiAddress === undefined ? {} : { apiAddress }),
    ...(clusterName === undefined ? {} : { clusterName }),
    ...(defaultLeaseTtl === undefined ? {} : { defaultLeaseTtl }),
    ...(maxLeaseTtl === undefined ? {} : { maxLeaseTtl }),
    ...(logFile === undefined ? {} : { logFile }),
    ...(pidFile === undefined ? {} : { pidFile }),
  };
}

function parsed({ file, text }: ConfigurationText, complaints: Complaints): Sourced[] {
  try {
    return parseHcl(text, { labels: LABELS }).map((item) => ({ item, file }));
  } catch (error) {
    if (!(error instanceof HclSyntaxError)) throw error;
    complaints.add({ file, line: error.line }, `is neither HCL nor JSON: ${error.reason}`);
    return [];
  }
}

/** A URL of the configuration. `STRONGROOM_API_ADDR`, `BAO_API_ADDR` or `VAULT_API_ADDR` replaces `api_addr`, as one image serves many machines. */
function readUrl(top: Section, key: string, env: NonNullable<ReadOptions['env']>): string | undefined {
  const written = top.text(key);
  const variable = ['STRONGROOM_', 'BAO_', 'VAULT_'].map((prefix) => prefix + key.toUpperCase()).find((name) => env[name]);
  const text = variable === undefined ? written : env[variable];
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.hostname !== '' && url.username === '' && url.password === '') return text;
  const wrong = 'must be a URL such as "https://vault.example:8200"';
  if (variable === undefined) top.complain(key, wrong);
  else top.complainHere(`the environment variable ${variable} ${wrong}`);
  return undefined;
}

function readTelemetry(top: Section): boolean {
  let enabled = true;
  for (const { section } of top.blocks('telemetry', 0)) {
    const retention = section.duration('prometheus_retention_time');
    if (retention === 0) enabled = false;
    const pushed = 'metrics are read from /v1/sys/metrics by Prometheus, not sent';
    section.ignore({
      disable_hostname: 'no metric bears the host name',
      enable_hostname_label: 'no metric bears the host name',
      metrics_prefix: 'every metric begins with strongroom_, nodejs_ or process_',
      usage_gauge_period: 'there are no usage gauges',
      maximum_gauge_cardinality: 'there are no usage gauges',
      lease_metrics_epsilon: 'leases are not counted by their expiry',
      num_lease_metrics_buckets: 'leases are not counted by their expiry',
      add_lease_metrics_namespace_labels: 'leases are not counted by their expiry',
      filter_default: 'every metric is shown',
      prefix_filter: 'every metric is shown',
      add_mount_point_rollback_metrics: 'nothing is rolled back by mount point',
      statsd_address: pushed,
      statsite_address: pushed,
      dogstatsd_addr: pushed,
      dogstatsd_tags: pushed,
      circonus_api_token: pushed,
      circonus_api_app: pushed,
      circonus_check_tags: pushed,
      stackdriver_project_id: pushed,
      stackdriver_location: pushed,
      stackdriver_namespace: pushed,
      stackdriver_debug_logs: pushed,
    });
    section.done();
  }
  return enabled;
}

function readPlugins(top: Section): PluginChoice[] {
  const plugins: PluginChoice[] = [];
  for (const { labels, section, place } of top.blocks('plugin', 1)) {
    const name = labels[0] ?? '';
    section.done();
    if (!/^(?:@[a-z\d~-][\w.~-]*\/)?[a-z\d~-][\w.~-]*$/i.test(name) && !/^(?:\/|\.{1,2}\/)[^\0]+$/.test(name)) {
      section.complainHere('is neither the name of a package nor a path that begins with / or ./');
    } else if (plugins.some((other) => other.name === name)) section.complainHere('is named twice');
    else plugins.push({ name, from: resolve(dirname(place.file)), at: placeText(place) });
  }
  return plugins;
}
