// The assembler includes the files byte for byte: a string literal of their size takes a compiler minutes.
#include "page_files.hpp"

#include "dissent/base/error.hpp"

#ifdef DISSENT_HAS_PAGES
#define DISSENT_EMBED(name, path)                                                                              \
  asm(".pushsection .rodata\n.global dissent_" #name "\n.global dissent_" #name "_end\n.hidden dissent_" #name \
      "\n.hidden dissent_" #name "_end\ndissent_" #name ":\n.incbin \"" path "\"\ndissent_" #name              \
      "_end:\n.byte 0\n.popsection");                                                                          \
  extern "C" const char dissent_##name[];                                                                      \
  extern "C" const char dissent_##name##_end[];

DISSENT_EMBED(page_css, DISSENT_WEB "/page.css")
DISSENT_EMBED(page_js, DISSENT_WEB "/page.js")
DISSENT_EMBED(vega, DISSENT_FETCHED "/vega.js")
DISSENT_EMBED(vega_lite, DISSENT_FETCHED "/vega-lite.js")
DISSENT_EMBED(vega_embed, DISSENT_FETCHED "/vega-embed.js")

namespace dissent::cli {

report::PageFiles page_files() {
  return {{dissent_page_css, dissent_page_css_end},
          {{dissent_vega, dissent_vega_end},
           {dissent_vega_lite, dissent_vega_lite_end},
           {dissent_vega_embed, dissent_vega_embed_end},
           {dissent_page_js, dissent_page_js_end}}};
}

}  // namespace dissent::cli

#else

namespace dissent::cli {

report::PageFiles page_files() {
  fail(
      "this program was built without pages, which need npm to build; take --format md or csv, or build it again where "
      "npm is");
}

}  // namespace dissent::cli

#endif
