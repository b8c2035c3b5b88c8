// A worker runs dozens of test files: what the next one can use is kept, and what would cost it is ended (docs/decisions/0072).
import { AsyncLocalStorage } from 'node:async_hooks';
import vm from 'node:vm';
import NodeEnvironment from 'jest-environment-node';

/** Stores that the current file uses: its own copies, and those of the copy of jest-circus that runs it. */
const stores = new Set();
for (const name of ['run', 'enterWith']) {
  const method = AsyncLocalStorage.prototype[name];
  AsyncLocalStorage.prototype[name] = function (...args) {
    stores.add(this);
    return method.apply(this, args);
  };
}

/** Compiled modules by file. V8 compares no more than the length of the source. */
const compiled = new Map();

// Each file evaluates its imports anew, several hundred, but their code is the same. What imports at run time is compiled each time:
// Node 20 forgets how in code that was compiled before.
vm.SourceTextModule = class extends vm.SourceTextModule {
  constructor(source, options) {
    const known = compiled.get(options.identifier);
    const cachedData = known?.source === source ? known.cachedData : undefined;
    super(source, { ...options, cachedData });
    if (cachedData === undefined && !/\bimport\s*\(/.test(source))
      compiled.set(options.identifier, { source, cachedData: this.createCachedData() });
  }
};

export default class OneFileEnvironment extends NodeEnvironment {
  /** Node asks every store in use at each promise, so those of a file end with it: after 30 files they took 7 % of the CPU. */
  async teardown() {
    for (const store of stores) store.disable();
    stores.clear();
    await super.teardown();
  }
}
