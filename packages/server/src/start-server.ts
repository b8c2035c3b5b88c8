import type { Configuration } from './config/configuration.ts';
import type { ReadOptions } from './config/read-configuration.ts';
import type { DiagnoseOptions } from './diagnose/diagnose.ts';
import type { Finding } from './diagnose/finding.ts';
import type { RunningServer } from './server.ts';
import type { StartOptions } from './start-options.ts';

/**
 * Starts a server in this process. When it cannot start, nothing of it is left open.
 * @throws ListenerFailed, PluginsRefused, PluginRefused, StorageFailure, TlsFilesInvalid, PidFileFailed
 */
export async function startServer(options: StartOptions): Promise<RunningServer> {
  return (await import('./server.ts')).openServer(options);
}

/** Reads files and folders, HCL or JSON, as one configuration. @throws ConfigurationInvalid with every complaint */
export async function readConfiguration(paths: readonly string[], options: ReadOptions = {}): Promise<Configuration> {
  return (await import('./config/read-configuration.ts')).readConfiguration(paths, options);
}

/** Looks for what would keep a server with this configuration from starting, or from being safe. Starts nothing. */
export async function diagnose(paths: readonly string[], options: DiagnoseOptions = {}): Promise<Finding[]> {
  return (await import('./diagnose/diagnose.ts')).diagnose(paths, options);
}
