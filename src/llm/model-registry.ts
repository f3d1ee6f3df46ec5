/** Models of others that `kgwalk models get` knows by name: where they lie, under which licence, what they are good for. */

interface RegisteredModel {
  /** Name for `--model` and `--encoder`. */
  name: string;
  use: 'chat' | 'encoder';
  about: string;
  url: string;
  sha256: string;
  megabytes: number;
  licence: string;
  /** URL of a licence that must be accepted before the download. */
  licenceToAccept?: string;
}

/** In the order they are listed: encoders first, then by size. Hashes are those that the host publishes for the files. */
export const modelRegistry: readonly RegisteredModel[] = [
  {
    name: 'all-minilm-l6-v2',
    use: 'encoder',
    about: 'sentence encoder, 384 dimensions: the encoder to start with',
    url: 'https://huggingface.co/second-state/All-MiniLM-L6-v2-Embedding-GGUF/resolve/aa38cf2db8c4ed51280bd0acc6509e8d3b1e284e/all-MiniLM-L6-v2-Q8_0.gguf',
    sha256: '263215c3cadd6e16740741a7624ab4cbb6c8e777688bd5331ecfbf5681c2f8ed',
    megabytes: 25,
    licence: 'Apache-2.0',
  },
  {
    name: 'smollm2-135m-instruct',
    use: 'chat',
    about: 'small and quick, for trying things out; near chance as a reasoner',
    url: 'https://huggingface.co/bartowski/SmolLM2-135M-Instruct-GGUF/resolve/main/SmolLM2-135M-Instruct-Q4_K_M.gguf',
    sha256: '2e8040ceae7815abe0dcb3540b9995eaa1fa0d2ca9e797d0a635ae4433c68c2d',
    megabytes: 105,
    licence: 'Apache-2.0',
  },
  {
    name: 'qwen2.5-0.5b-instruct',
    use: 'chat',
    about: 'the smallest that follows instructions; runs on two cores',
    url: 'https://huggingface.co/Qwen/Qwen2.5-0.5B-Instruct-GGUF/resolve/12145bd1d629190a4d44254073650877954d02c9/qwen2.5-0.5b-instruct-q4_k_m.gguf',
    sha256: '74a4da8c9fdbcd15bd1f6d01d621410d31c6fc00986f5eb687824e7b93d7a9db',
    megabytes: 491,
    licence: 'Apache-2.0',
  },
  {
    name: 'llama-3.2-1b-instruct',
    use: 'chat',
    about: 'a Llama for a laptop',
    url: 'https://huggingface.co/bartowski/Llama-3.2-1B-Instruct-GGUF/resolve/d52af3776f99ddf220e5ffd3f93b2a4e4df105be/Llama-3.2-1B-Instruct-Q4_K_M.gguf',
    sha256: '6f85a640a97cf2bf5b8e764087b1e83da0fdb51d7c9fab7d0fece9385611df83',
    megabytes: 808,
    licence: 'Llama 3.2 Community License',
    licenceToAccept: 'https://www.llama.com/llama3_2/license/',
  },
  {
    name: 'qwen2.5-1.5b-instruct',
    use: 'chat',
    about: 'a fair reasoner for its size',
    url: 'https://huggingface.co/Qwen/Qwen2.5-1.5B-Instruct-GGUF/resolve/main/qwen2.5-1.5b-instruct-q4_k_m.gguf',
    sha256: '6a1a2eb6d15622bf3c96857206351ba97e1af16c30d7a74ee38970e434e9407e',
    megabytes: 1120,
    licence: 'Apache-2.0',
  },
  {
    name: 'llama-3.2-3b-instruct',
    use: 'chat',
    about: 'the larger small Llama; 4 GB of memory',
    url: 'https://huggingface.co/bartowski/Llama-3.2-3B-Instruct-GGUF/resolve/c346bfc2029e79ba6d7edf026cf01fe44242db0d/Llama-3.2-3B-Instruct-Q4_K_M.gguf',
    sha256: '6c1a2b41161032677be168d354123594c0e6e67d2b9227c84f296ad037c728ff',
    megabytes: 2020,
    licence: 'Llama 3.2 Community License',
    licenceToAccept: 'https://www.llama.com/llama3_2/license/',
  },
  {
    name: 'qwen2.5-7b-instruct',
    use: 'chat',
    about: 'for a graphics card, or patience; 8 GB of memory',
    url: 'https://huggingface.co/bartowski/Qwen2.5-7B-Instruct-GGUF/resolve/f4b6063c19a94c15fe9031d8afbbb9df7ec8b93f/Qwen2.5-7B-Instruct-Q4_K_M.gguf',
    sha256: '65b8fcd92af6b4fefa935c625d1ac27ea29dcb6ee14589c55a8f115ceaaa1423',
    megabytes: 4680,
    licence: 'Apache-2.0',
  },
];
