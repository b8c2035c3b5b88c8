/** An address cannot be listened on. */
export class ListenerFailed extends Error {
  override readonly name = 'ListenerFailed';
}

/** A certificate or key cannot be used. The message names the file, never what is in it. */
export class TlsFilesInvalid extends Error {
  override readonly name = 'TlsFilesInvalid';
}

/** One or more packages of the configuration cannot be used, so none is. The message names each with its reason. */
export class PluginsRefused extends Error {
  override readonly name = 'PluginsRefused';
}

/** The storage of the configuration is an optional package that is not there. */
export class StorageNotInstalled extends Error {
  override readonly name = 'StorageNotInstalled';

  constructor(type: string) {
    super(`storage ${JSON.stringify(type)} is not installed: npm install @strongroom/storage-${type}`);
  }
}

/** The process's number cannot be written down. */
export class PidFileFailed extends Error {
  override readonly name = 'PidFileFailed';
}

/** The log's file cannot be opened. */
export class LogFileFailed extends Error {
  override readonly name = 'LogFileFailed';
}
