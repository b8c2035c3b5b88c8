export type { Replacements } from './composition.ts';
export { ConfigurationInvalid } from './config/complaints.ts';
export type { Configuration, Listener, LogFormat, LogLevel, PluginChoice, StorageChoice, TlsChoice } from './config/configuration.ts';
export { defaultConfiguration } from './config/default-configuration.ts';
export type { ReadOptions } from './config/read-configuration.ts';
export { ListenerFailed, LogFileFailed, PidFileFailed, PluginsRefused, StorageNotInstalled, TlsFilesInvalid } from './failures.ts';
export { runServer, type RunOptions } from './run-server.ts';
export type { RunningServer } from './server.ts';
export { readConfiguration, startServer, type StartOptions } from './start-server.ts';
