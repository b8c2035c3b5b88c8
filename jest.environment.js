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

/** What V8 has made of modules, by file. It compares no more than the length of the source. */
const compiled = new Map();

/** The module with what was made of the same source before; undefined where there is nothing, or nothing of use. */
function fromCompiled(Module, source, options) {
  const before = compiled.get(options.identifier);
  if (before?.source !== source) return undefined;
  try {
    return new Module(source, { ...options, cachedData: before.cachedData });
  } catch (error) {
    if (error.code !== 'ERR_VM_MODULE_CACHED_DATA_REJECTED') throw error;
    // A test has changed V8's flags: nothing that was made before is of use.
    compiled.clear();
    return undefined;
  }
}

function compile(Module, source, options) {
  const module = new Module(source, options);
  // Node 20 loses the callback of `import()` in code that it did not compile itself.
  if (!/\bimport\s*\(/.test(source)) compiled.set(options.identifier, { source, cachedData: module.createCachedData() });
  return module;
}

// Each file evaluates its imports anew, several hundred, but their code is the same.
vm.SourceTextModule = new Proxy(vm.SourceTextModule, {
  construct: (Module, [source, options]) => fromCompiled(Module, source, options) ?? compile(Module, source, options),
});

export default class OneFileEnvironment extends NodeEnvironment {
  /** Node asks every store in use at each promise, so those of a file end with it: after 30 files they took 7 % of the CPU. */
  async teardown() {
    for (const store of stores) store.disable();
    stores.clear();
    await super.teardown();
  }
}
