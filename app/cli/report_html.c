/* See report_html.h. */
#include "app/cli/report_html.h"
#include <stdarg.h>
#include <stdlib.h>

static const char style[] =
    "body{font:15px/1.5 'DejaVu Sans',Verdana,sans-serif;color:#222;background:#fff;max-width:75em;"
    "margin:2em auto;padding:0 1em}\n"
    "h1{font-size:1.6em;line-height:1.25}h2{font-size:1.2em;margin-top:2em;border-bottom:1px solid "
    "#ccc}\n"
    "table{border-collapse:collapse;margin:1em 0;font-size:.9em}th,td{padding:.25em "
    ".7em;text-align:"
    "left;border-bottom:1px solid #ddd;vertical-align:top}th{border-bottom:2px solid #888}\n"
    "td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    "figure{margin:1.5em 0;overflow-x:auto}svg{max-width:100%;height:auto}svg text{font-family:"
    "'DejaVu Sans',Verdana,sans-serif}\n"
    "pre,code{font-family:'DejaVu Sans "
    "Mono',Menlo,Consolas,monospace;font-size:.9em}pre{overflow-x:"
    "auto;line-height:1.2}\n"
    "dt{font-weight:bold}dd{margin:0 0 .6em 1.5em}.small{color:#555;font-size:.9em}\n"
    "div.wide{overflow-x:auto}@media print{body{max-width:none}}\n";

void report_text(FILE *out, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '&')
            fputs("&amp;", out);
        else if (*c == '<')
            fputs("&lt;", out);
        else if (*c == '>')
            fputs("&gt;", out);
        else if (*c == '"')
            fputs("&quot;", out);
        else if (*c == '\'')
            fputs("&#39;", out);
        else
            fputc((*c < ' ' && *c != '\n' && *c != '\t') || *c == 0x7f ? ' ' : *c, out);
    }
}

static void formatted_print(FILE *out, const char *format, va_list arguments)
{
    char *text;
    if (vasprintf(&text, format, arguments) < 0) {
        fputs("(memory is exhausted)", out);
        return;
    }
    report_text(out, text);
    free(text);
}

void report_element(FILE *out, const char *tag, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(out, "<%s>", tag);
    formatted_print(out, format, arguments);
    fprintf(out, "</%s>\n", tag);
    va_end(arguments);
}

void report_table_begin(FILE *out, const char *const *columns)
{
    fputs("<div class=\"wide\"><table>\n<thead><tr>", out);
    for (; *columns; columns++) {
        fputs("<th>", out);
        report_text(out, *columns);
        fputs("</th>", out);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
}

void report_table_end(FILE *out)
{
    fputs("</tbody></table></div>\n", out);
}

void report_cell(FILE *out, const char *text)
{
    fputs("<td>", out);
    report_text(out, text ? text : "-");
    fputs("</td>", out);
}

void report_figure(FILE *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("<td class=\"n\">", out);
    formatted_print(out, format, arguments);
    fputs("</td>", out);
    va_end(arguments);
}

void report_page_begin(FILE *out, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\""
          "viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
          out);
    report_text(out, title);
    fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", style);
}

void report_page_end(FILE *out)
{
    fputs("</body>\n</html>\n", out);
}
